/* A calibration under way: what its steps hand to one another. calibrate.c is the course of it, measure.c times
 * candidates, fit.c fits the parameters and says how good they are, report.c writes the report. */
#ifndef CUTT_CALIBRATE_CALIBRATE_H
#define CUTT_CALIBRATE_CALIBRATE_H

#include "plan/backend.h"
#include "store/device_file.h"

/* Where a predicted time comes from. */
typedef enum cutt_predictor {
  CUTT_PREDICTED_FITTED,     /* properties as measured, parameters as fitted */
  CUTT_PREDICTED_PROPERTIES, /* properties as measured, parameters as they were */
  CUTT_PREDICTED_BEFORE,     /* the description that plans were made by until now */
  CUTT_PREDICTED_PAPER,      /* the paper's model, properties as measured */
  CUTT_PREDICTORS
} cutt_predictor;

/* A candidate that was timed. */
typedef struct cutt_sample {
  cutt_breakdown breakdown, breakdown_before; /* by the properties as measured, and as they were */
  double paper;                               /* seconds by the paper's model; < 0: it says nothing of the candidate */
  double seconds;                             /* measured */
} cutt_sample;

/* The candidates of one problem: a stretch of the samples. */
typedef struct cutt_trial {
  int first, count;
  bool held_back; /* not seen by the fit */
} cutt_trial;

/* How good choices are on the problems that were held back. */
typedef struct cutt_quality {
  int problems;       /* that it could be found out on; 0: the rest means nothing */
  double mean, worst; /* time of the fastest candidate over that of the chosen one: geometric mean, least */
  double exact;       /* share of problems where the two are the same */
  double correlation; /* Spearman's, of predicted and measured times of a problem's candidates; mean */
} cutt_quality;

typedef struct cutt_calibration {
  cuttCalibration_t ask;
  const cutt_backend *backend;
  double began, limit; /* seconds: by the clock, and of work */
  bool stopped;        /* by ask.progress */

  const cutt_target *before;          /* the description in use */
  cutt_target *target;                /* the same with properties as measured; its values are value[] */
  double value[CUTT_PARAMETERS];      /* as fitted so far */
  const double *start, *before_value; /* built in; those in use */
  double ridge, error;                /* of the last fit: see cutt_fit */

  cutt_canonical canonical; /* the problem that is measured */
  cutt_sample *samples;
  int sample_count, sample_room;
  cutt_trial *trials;
  int trial_count, trial_room;

  void *in, *out; /* memory to measure in */
  int64_t bytes;  /* of each */
  cudaStream_t stream;

  cutt_quality quality[CUTT_PREDICTORS];
  cutt_predictor kept; /* what the file has */
  char key[CUTT_DEVICE_KEY_BYTES];
  char path[CUTT_PATH_BYTES];
  double elapsed;
} cutt_calibration;

enum {
  CUTT_MEASURED_PERCENT = 97,
  CUTT_FITTED_PERCENT = 99
}; /* of all, when the last problem has been measured, and after the fit */

/* Tells the caller how far all of it is, as a share, and false when he wants it stopped. done < 0: by the clock. */
bool cutt_calibrate_progress(cutt_calibration *c, double done, const char *what);

/* Times candidates of a problem, for about so many seconds, and adds them to the samples as a trial; a problem none of
 * whose times can be read adds none. Errors: CUTT_INTERNAL_ERROR; without a text when c->stopped. */
cuttResult cutt_calibrate_measure(cutt_calibration *c, const cutt_canonical *canonical, bool held_back, double budget);

/* Fits c->value to the trials that are not held back. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_calibrate_fit(cutt_calibration *c, double ridge);
/* The same with the ridge that predicts best what it has not seen; and the quality of every predictor. Errors: CUTT_INTERNAL_ERROR;
 * without a text when c->stopped. */
cuttResult cutt_calibrate_finish(cutt_calibration *c);
cutt_quality cutt_calibrate_quality(const cutt_calibration *c, cutt_predictor by);

/* For the device file: lines of comment. And for people and programs. */
void cutt_calibrate_comment(const cutt_calibration *c, cutt_text *text);
void cutt_calibrate_report(const cutt_calibration *c, cuttFormat_t format, cutt_text *text);

#endif
