// D = A * B + C of 16 by 16 tiles on tensor cores: f16 in, f32 out.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_half(const half *a, const half *b, float *d, int m, int n, int k) {
    int row = 16 * (blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32), column = 16 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + column * k + i, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
    wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}
