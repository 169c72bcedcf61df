/** The bounds of a GraphQL text, checked word by word before it is parsed: the parser's own recursion is safe then. */
import { Lexer, Source, TokenKind } from 'graphql'
import { QueryProblem } from '../problem.ts'

export interface TextLimits {
  /** Words and signs. */
  readonly tokens: number
  /** Levels of brackets, of all three sorts. */
  readonly nesting: number
}

/** Characters; no query within the other limits comes near it. */
const MAX_TEXT = 100_000
const MAX_NAME = 64

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/**
 * @throws QueryProblem for a text beyond the limits, and for one with a character that no record can hold
 * @throws GraphQLError for a text that has no words of GraphQL
 */
export function checkTokens(text: string, limits: TextLimits, path: string): void {
  if (text.length > MAX_TEXT) throw new QueryProblem(path, `must have at most ${MAX_TEXT} characters`)
  const lexer = new Lexer(new Source(text))
  let nesting = 0
  for (let tokens = 0; ; tokens += 1) {
    const { kind, value } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (tokens >= limits.tokens) {
      throw new QueryProblem(path, `must have at most ${limits.tokens} words and signs`)
    }
    if (OPENING.has(kind)) nesting += 1
    if (CLOSING.has(kind)) nesting -= 1
    if (nesting > limits.nesting) {
      throw new QueryProblem(path, `must be nested at most ${limits.nesting} levels deep`)
    }
    if (kind === TokenKind.NAME && value !== undefined && value.length > MAX_NAME) {
      throw new QueryProblem(path, `names must have at most ${MAX_NAME} characters`)
    }
    if ((kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING) && value?.includes('\0')) {
      throw new QueryProblem(path, 'texts must have no NUL character')
    }
  }
}
