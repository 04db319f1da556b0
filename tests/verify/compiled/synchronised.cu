#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg=cooperative_groups;
using barrier=cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void pipe(float*g,float*o,int n){ __shared__ float s[2][256]; __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block,2> st; auto b=cg::this_thread_block(); auto p=cuda::make_pipeline(b,&st); for(int c=0,f=0;c<n;c++){ for(;f<n&&f<c+2;f++){p.producer_acquire(); cuda::memcpy_async(b,s[f%2],g+f*256,cuda::aligned_size_t<16>(1024),p); p.producer_commit();} p.consumer_wait(); o[c*256+threadIdx.x]=s[c%2][threadIdx.x]*2; p.consumer_release(); } }
extern "C" __global__ void pipe2(float*g,float*o,int n){ __shared__ float s[2][256]; auto p=cuda::make_pipeline(); for(int c=0,f=0;c<n;c++){ for(;f<n&&f<c+2;f++){p.producer_acquire(); cuda::memcpy_async(&s[f%2][threadIdx.x],g+f*256+threadIdx.x,sizeof(float),p); p.producer_commit();} cuda::pipeline_consumer_wait_prior<1>(p); __syncthreads(); o[c*256+threadIdx.x]=s[c%2][255-threadIdx.x]*2; __syncthreads(); p.consumer_release(); } }
extern "C" __global__ void bar(float*g){ __shared__ barrier b; if(threadIdx.x==0) init(&b,blockDim.x); __syncthreads(); for(int i=0;i<4;i++){ auto t=b.arrive(); g[threadIdx.x]+=1; b.wait(std::move(t)); } }
extern "C" __global__ void async_cg(float*g,float*o){ extern __shared__ float s[]; auto b=cg::this_thread_block(); cg::memcpy_async(b,s,g,1024); cg::wait(b); o[threadIdx.x]=s[threadIdx.x]; auto t=cg::tiled_partition<16>(b); o[0]=cg::reduce(t,o[threadIdx.x],cg::plus<float>()); o[1]=cg::exclusive_scan(t,o[3]); if(threadIdx.x&1){auto c=cg::coalesced_threads(); o[5]=cg::reduce(c,3,cg::plus<int>()); c.sync(); o[2]=c.shfl(o[3],0);} auto bt=cg::labeled_partition(t,(int)o[2]&3); o[3]=bt.size(); }
extern "C" __global__ void grid(float*g){ auto b=cg::this_grid(); g[0]=1; b.sync(); g[1]=g[0]; }
