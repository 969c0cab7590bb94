/* Counting what warps ask of memory. The lanes of a warp run one after another, so their accesses are put together
 * afterwards: at each site, the k-th access of every lane make one request. So it is on a GPU while lanes stay together;
 * lanes that reach a site in different iterations are counted as if they had reached it at once, but for loops that say which
 * turn it is: there an access that some lanes leave out is not put together with those of a later turn. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simt/state.h"

enum { SLOTS = 2 * SIMT_MOST_SITES, NONE = -1, BANKS = 32 };

typedef struct request {
  int32_t next; /* the one that follows at the same site */
  uint64_t turn;
  uint32_t bytes;
  simt_access access;
  uint32_t count;            /* lanes */
  uint64_t place[SIMT_WARP]; /* of each lane that takes part, with the lane's number beside it */
  unsigned char lane[SIMT_WARP];
} request;

/* What a block has done to a sector in an interval. */
typedef struct sector {
  uint32_t interval, bytes;
} sector;

/* Sectors of a span of global memory. */
typedef struct sector_map {
  sector *of;
  size_t room; /* sectors */
  uint64_t first;
} sector_map;

static struct {
  simt_counts *counts;
  uint32_t split, interval;
  sector_map in, right, out, out_read; /* right: of a second operand */
  request *requests;
  int32_t count, room;
  /* By site and whether it is an access to shared memory: the warp's first request, and the lane's latest. */
  int32_t head[SLOTS], latest[SLOTS];
  uint32_t head_stamp[SLOTS], latest_stamp[SLOTS];
  uint32_t warp_stamp, lane_stamp, lane;
  uint64_t turn; /* the lane's: in the upper half, how many loops have begun or ended */
} state;

void simt_counts_cleanup(void) {
  sector_map *const maps[] = {&state.in, &state.right, &state.out, &state.out_read};
  for (int i = 0; i < 4; ++i)
    if (maps[i]->of) munmap(maps[i]->of, maps[i]->room * sizeof(sector));
  free(state.requests);
  memset(&state, 0, sizeof state);
}

/* Pages that are mapped anew are zero and cost nothing until they are touched. */
static bool map_sectors(sector_map *map, simt_span span) {
  const uint64_t low = (uint64_t)(uintptr_t)span.low;
  map->first = low / SIMT_SECTOR;
  const size_t count = (size_t)((low + span.bytes) / SIMT_SECTOR - map->first) + 1;
  if (map->of) munmap(map->of, map->room * sizeof(sector));
  map->of =
      mmap(NULL, count * sizeof(sector), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map->of == MAP_FAILED) map->of = NULL;
  map->room = map->of ? count : 0;
  return map->of != NULL;
}

bool simt_counts_begin(const simt_launch *launch, simt_counts *counts) {
  state.counts = counts;
  state.split = launch->shared_split;
  state.interval = 0;
  return map_sectors(&state.in, launch->read) && map_sectors(&state.right, launch->read_right) &&
         map_sectors(&state.out, launch->write) &&
         map_sectors(&state.out_read, launch->reads_out ? launch->write : (simt_span){NULL, 0});
}

void simt_counts_interval(void) { ++state.interval; }

void simt_counts_lane(uint32_t lane) {
  state.lane = lane;
  ++state.lane_stamp;
  state.turn = 0;
  if (state.warp_stamp == 0) state.warp_stamp = 1;
}

void simt_counts_turn(uint32_t number) {
  const uint64_t loops = (state.turn >> 32) + (number == 0);
  state.turn = loops << 32 | number;
}

static int32_t new_request(simt_access access, uint32_t bytes) {
  if (state.count == state.room) {
    const int32_t room = state.room ? 2 * state.room : 256;
    request *more = realloc(state.requests, (size_t)room * sizeof *more);
    if (!more) return NONE;
    state.requests = more;
    state.room = room;
  }
  request *r = &state.requests[state.count];
  r->next = NONE;
  r->turn = state.turn;
  r->bytes = bytes;
  r->access = access;
  r->count = 0;
  return state.count++;
}

bool simt_counts_add(unsigned site, simt_access access, uint32_t bytes, uint64_t place) {
  const unsigned slot = 2 * site + (access >= SIMT_SHARED_LOAD);
  const bool again = state.latest_stamp[slot] == state.lane_stamp;
  int32_t before = NONE, at = NONE;
  if (again) {
    before = state.latest[slot];
    at = state.requests[before].next;
  } else if (state.head_stamp[slot] == state.warp_stamp) {
    at = state.head[slot];
  }
  for (; at != NONE && state.requests[at].turn < state.turn; at = state.requests[at].next) before = at;
  if (at == NONE || state.requests[at].turn > state.turn) {
    const int32_t next = at;
    at = new_request(access, bytes);
    if (at == NONE) return false;
    state.requests[at].next = next;
    if (before != NONE) {
      state.requests[before].next = at;
    } else {
      state.head[slot] = at;
      state.head_stamp[slot] = state.warp_stamp;
    }
  }
  state.latest[slot] = at;
  state.latest_stamp[slot] = state.lane_stamp;
  request *r = &state.requests[at];
  r->place[r->count] = place;
  r->lane[r->count++] = (unsigned char)state.lane;
  return true;
}

static bool is_of(const sector_map *map, uint64_t number) {
  return number >= map->first && number - map->first < map->room;
}

static void count_sectors(const request *r) {
  uint64_t touched[SIMT_WARP];
  uint32_t bytes[SIMT_WARP], count = 0;
  for (uint32_t i = 0; i < r->count; ++i) {
    const uint64_t number = r->place[i] / SIMT_SECTOR;
    uint32_t at = count; /* most often the latest one or a new one */
    while (at > 0 && touched[at - 1] != number) --at;
    if (at == 0) {
      touched[count] = number;
      bytes[count++] = r->bytes;
    } else {
      bytes[at - 1] += r->bytes;
    }
  }
  simt_counts *const counts = state.counts;
  const bool store = r->access == SIMT_GLOBAL_STORE;
  *(store ? &counts->store_requests : &counts->load_requests) += 1;
  *(store ? &counts->store_bytes : &counts->load_bytes) += r->bytes * r->count;
  *(store ? &counts->store_sectors : &counts->load_sectors) += count;
  for (uint32_t i = 0; i < count; ++i) {
    const sector_map *const map = store                             ? &state.out
                                  : is_of(&state.in, touched[i])    ? &state.in
                                  : is_of(&state.right, touched[i]) ? &state.right
                                                                    : &state.out_read;
    sector *const s = &map->of[touched[i] - map->first];
    if (s->interval != state.interval) {
      s->interval = state.interval;
      s->bytes = 0;
      *(store ? &counts->tile_store_sectors : &counts->tile_load_sectors) += 1;
    }
    s->bytes += bytes[i];
    if (!store) continue;
    counts->store_sectors_whole += bytes[i] == SIMT_SECTOR;
    counts->tile_store_sectors_whole += s->bytes == SIMT_SECTOR;
  }
}

/* Wavefronts of the lanes that are served together: the most different words of any bank. */
static uint32_t wavefronts(const request *r, uint32_t first, uint32_t end) {
  uint64_t word[BANKS][SIMT_WARP];
  unsigned char count[BANKS] = {0};
  uint32_t most = 0;
  for (uint32_t i = first; i < end; ++i) {
    for (uint32_t part = 0; part < r->bytes; part += 4) {
      const uint64_t number = (r->place[i] + part) / 4, bank = number % BANKS;
      uint32_t at = 0;
      while (at < count[bank] && word[bank][at] != number) ++at;
      if (at < count[bank]) continue;
      word[bank][count[bank]++] = number;
      if (count[bank] > most) most = count[bank];
    }
  }
  return most;
}

static void count_shared(const request *r) {
  const uint32_t together = r->bytes <= 4 ? 32 : r->bytes == 8 ? 16 : 8; /* lanes */
  simt_shared_counts *const counts = &state.counts->shared[r->place[0] >= state.split];
  ++counts->requests;
  counts->ideal += (r->count + together - 1) / together;
  for (uint32_t first = 0, end = 0; first < r->count; first = end) {
    while (end < r->count && r->lane[end] / together == r->lane[first] / together) ++end;
    counts->wavefronts += wavefronts(r, first, end);
  }
}

void simt_counts_flush(void) {
  for (int32_t i = 0; i < state.count; ++i) {
    if (state.requests[i].access >= SIMT_SHARED_LOAD)
      count_shared(&state.requests[i]);
    else
      count_sectors(&state.requests[i]);
  }
  state.count = 0;
  ++state.warp_stamp;
}
