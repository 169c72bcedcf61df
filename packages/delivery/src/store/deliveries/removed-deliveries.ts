/** What goes with a registry or a participant that is removed: its deliveries. */
import { countOf, type Removable, rowsOf, type StoredPart } from '@rollcall/database/removal'

const countedOf = (removable: Removable) => ({ deliveries: countOf(removable, 'delivery') })

const pendingOf = (removable: Removable) => ({
  deliveries: `select count(*) from delivery where ${removable} = $1 and state = 'pending'`,
})

export const STORED_DELIVERIES: StoredPart = {
  counted: { registry: countedOf('registry'), participant: countedOf('participant') },
  pending: { registry: pendingOf('registry'), participant: pendingOf('participant') },
  removed: { registry: rowsOf('registry', ['delivery']), participant: rowsOf('participant', ['delivery', 'breaker']) },
}
