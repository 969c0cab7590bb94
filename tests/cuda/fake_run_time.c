/* A stand-in for the CUDA run time: a libcudart.so that has a current device, and nothing else. */
#define PUBLIC __attribute__((visibility("default")))

static _Thread_local int current;

PUBLIC int cudaGetDevice(int *device);
PUBLIC int cudaGetDevice(int *device) {
  *device = current;
  return 0;
}

PUBLIC int cudaSetDevice(int device);
PUBLIC int cudaSetDevice(int device) {
  current = device;
  return 0;
}
