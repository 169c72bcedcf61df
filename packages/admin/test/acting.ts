/** The arguments of acts in tests: a caller at the shell, and no second operator. */
import { type Acting, ONE_OPERATOR } from '@rollcall/admin/act'

const ACTING: Acting = {
  caller: { kind: 'shell', user: 'tester' },
  auditLog: { write: async () => undefined },
  approvals: ONE_OPERATOR,
}

/** The needs of an act, with what they lack. Its entry is written nowhere, unless they have an audit log. */
export const acting = <Deps extends object>(deps: Deps): Acting & Deps => ({ ...ACTING, ...deps })
