// Options that the program's Node is started with: by `npm start` (package.json) and the executable `sluice` themselves,
// by code that starts another Node, and by tests.
// The young generation of the main thread: of a large commit most objects live on, and each collection copies those that the
// young generation holds, in one go. Threads have limits of their own. Without the option all works, with longer pauses.
export const programOptions = ['--max-semi-space-size=4'];
