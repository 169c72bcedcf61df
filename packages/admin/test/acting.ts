/** The arguments of acts in tests: a caller at the shell, and no second operator. */
import { type BaseActDeps, NO_APPROVAL_NEEDED } from '@rollcall/admin/act'

const ACTING: BaseActDeps = {
  caller: { kind: 'shell', user: 'tester' },
  auditLog: { write: async () => undefined },
  approvals: NO_APPROVAL_NEEDED,
}

/**
 * Completes the dependencies of an act: adds a caller, `approvals`, and an audit log that writes nothing. Members that
 * are given stay.
 */
export const acting = <Deps extends object>(deps: Deps): BaseActDeps & Deps => ({ ...ACTING, ...deps })
