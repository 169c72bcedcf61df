/** The arguments of acts in tests: a caller at the shell, and no second operator. */
import { type Acting, NO_APPROVALS } from '@rollcall/admin/act'

const ACTING: Acting = {
  caller: { kind: 'shell', user: 'tester' },
  auditLog: { write: async () => undefined },
  approvals: NO_APPROVALS,
}

/** The needs of an act, with what they lack. Its entry is written nowhere, unless they have an audit log. */
export const acting = <Deps extends object>(deps: Deps): Acting & Deps => ({ ...ACTING, ...deps })
