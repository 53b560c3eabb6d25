# The NTK beyond the infinite-width limit: beyond.
