/** The arguments of acts in tests: a caller at the shell, and no second operator. */
import { type Acting, ONE_OPERATOR } from '@rollcall/admin/act'

const ACTING: Acting = {
  caller: { kind: 'shell', user: 'tester' },
  accounts: { write: async () => undefined },
  approvals: ONE_OPERATOR,
}

/** The needs of an act, with what they lack. Its entry is written nowhere, unless they have accounts. */
export const acting = <Needs extends object>(needs: Needs): Acting & Needs => ({ ...ACTING, ...needs })
