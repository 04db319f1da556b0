// One block sorts by 1 bit a pass: ballots rank the keys within a warp, sums of the warps shift them.
extern "C" __global__ void radix_sort(unsigned *keys, int bits) {
    __shared__ unsigned s[256], zeros[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned key = keys[t];
    for (int bit = 0; bit < bits; ++bit) {
        unsigned ballot = __ballot_sync(~0u, !((key >> bit) & 1));
        if (lane == 0) zeros[warp] = __popc(ballot);
        __syncthreads();
        unsigned before = 0, all = 0;
        for (int w = 0; w < 8; ++w) {
            if (w < warp) before += zeros[w];
            all += zeros[w];
        }
        unsigned rank = before + __popc(ballot & ((1u << lane) - 1));
        s[(key >> bit) & 1 ? all + t - rank : rank] = key;
        __syncthreads();
        key = s[t];
        __syncthreads();
    }
    keys[t] = key;
}
