// Arrays of a thread indexed by what it reads: an insertion sort and a stack.
extern "C" __global__ void local_arrays(const int *x, int *y, int *peaks) {
    int own[12], stack[12], top = 0, peak = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 12; ++k) {
        int value = x[12 * i + k], at = k;
        for (; at > 0 && own[at - 1] > value; --at) own[at] = own[at - 1];
        own[at] = value;
        while (top && stack[top - 1] <= value) --top;
        stack[top++] = value;
        if (top > peak) peak = top;
    }
    for (int k = 0; k < 12; ++k) y[12 * i + k] = own[k];
    peaks[i] = peak;
}
