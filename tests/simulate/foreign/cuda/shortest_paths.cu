// Floyd and Warshall's shortest paths within one block.
extern "C" __global__ void shortest_paths(int *distance, int n) {
    for (int k = 0; k < n; ++k) {
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int through = distance[i / n * n + k] + distance[k * n + i % n];
            if (i / n != k && i % n != k && through < distance[i]) distance[i] = through;
        }
        __syncthreads();
    }
}
