// A list in memory from malloc, freed again.
#include <stdlib.h>
struct Node { int value; Node *next; };
extern "C" __global__ void heap(const int *x, int *y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Node *list = nullptr;
    for (int k = 0; k <= i % count; ++k) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->value = x[i] + k, node->next = list, list = node;
    }
    int sum = 0;
    while (list) {
        Node *next = list->next;
        sum = 3 * sum + list->value;
        free(list);
        list = next;
    }
    y[i] = sum;
}
