// An assertion that holds for all threads but those with a negative number.
#include <assert.h>
extern "C" __global__ void asserts(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(x[i] >= 0 && "numbers are not negative");
    y[i] = x[i] + 1;
}
