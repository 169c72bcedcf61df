/** Next steps that pages offer while they have nothing to show. */
import type { OperatorRole } from '@rollcall/core/model/operator'

export interface NextStepLink {
  /** An address of the console, behind the `#`. */
  readonly to: string
  readonly text: string
  /** The role that the step needs. */
  readonly role: OperatorRole
}

export const NEXT_STEPS = {
  addRegistry: { to: '/registries', text: 'Go to the registries and add one', role: 'own' },
  grant: { to: '/participants', text: 'Open a participant and grant it something', role: 'own' },
  search: { to: '/try', text: 'Try a search', role: 'operate' },
  subscriptions: { to: '/subscriptions', text: 'Look at the subscriptions', role: 'read' },
  approvals: { to: '/help/approvals', text: 'Read which acts need a second operator', role: 'read' },
} as const satisfies Readonly<Record<string, NextStepLink>>
