// Options and environment that the program's Node is started with: by `npm start` (package.json) and the executable `sluice`
// themselves, by whoever starts another Node, and by tests. Without them all works, only worse.
// The young generation of the main thread: of a large commit most objects live on, and each collection copies those that the
// young generation holds, in one go. Threads have limits of their own.
export const programOptions = ['--max-semi-space-size=4'];
// libuv tells epoll of new sockets by way of io_uring, which costs a call more for each connection. Read before any code runs.
export const programEnvironment = { UV_USE_IO_URING: '0' };
