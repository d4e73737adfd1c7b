// First module of the script of the server, which has what the client needs of the model, too.
export * from 'program:src/command-line/checks.js';
export * from 'program:src/program.js';

/** Evaluates what a start of either mode imports late, so that V8's code of it can be kept at packaging. */
export async function evaluateAll() {
  await import('program:src/cluster/core.js');
  await import('program:src/control-plane.js');
  await import('program:src/proxy-mode.js');
  await import('program:src/proxy/worker/ready-threads.js');
}
