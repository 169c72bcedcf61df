/**
 * Decides a proposed source file as an operator does: the first choice of each open line takes its place. A line
 * without choices gets the wrong value `unknown`.
 */
export const decided = (text: string): string =>
  text.replace(/^( *(?:- )?)\S+: "\?"\n *# (.*)$/gm, '$1$2').replaceAll(': "?"', ': "unknown"')
