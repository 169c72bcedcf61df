export const SIGN_IN = {
  title: 'Sign in',
  lead: 'This console is for the operators of the server.',
  token: 'Operator token',
  tokenAdvice:
    'An operator with the role own makes one: rollcall operator add <name> --role <role>. In place of a token, rollcall operator link <name> prints a link that signs in; in a demo the name is demo-console.',
  submit: 'Sign in',
  or: 'or',
  link: 'A one-time link signs you in. It can be used once.',
  useLink: 'Sign in with this link',
  linkSpent: 'This link was used before, or it has expired.',
  linkAdvice: 'A link works once, and for 15 minutes. Make another one, or sign in with a token.',
  back: 'Sign in to open the page that you asked for.',
} as const
