// Recursion: Fibonacci numbers, Ackermann's function, and a traversal of a tree with a path in local memory.
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int depth(const int *left, const int *right, int node) {
    if (node < 0) return 0;
    int a = depth(left, right, left[node]), b = depth(left, right, right[node]);
    return 1 + (a > b ? a : b);
}
extern "C" __global__ void recursion(int *f, int *a, const int *left, const int *right, int *d) {
    int i = threadIdx.x;
    f[i] = fibonacci(i % 11);
    a[i] = ackermann(i % 3, i % 4);
    d[i] = depth(left, right, i);
}
