// The agent of undici by its file, whose types the package states for its whole alone.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
