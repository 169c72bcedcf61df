/** Made by build/help.ts of the files in docs/. */
declare module 'virtual:help' {
  export const HELP: readonly import('./tree.ts').HelpRow[]
}
