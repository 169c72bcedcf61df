/** The list of help documents, which build/help.ts makes from the files in docs/. */
declare module 'virtual:help' {
  export const HELP: readonly import('./tree.ts').HelpContentsRow[]
}
