"""What runs beside the threads: copies and products under way, the barriers that tell of their end, clusters."""
