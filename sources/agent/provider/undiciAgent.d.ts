// The one part of undici that a connection without a proxy needs; all of it takes twice as long to load.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}
