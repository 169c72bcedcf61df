/** Events of new people, for all kinds but civil, and of new members of households. */
import { householdNumbered } from '../households.ts'
import { identifier, type KindGenerator } from '../kinds/parts.ts'
import { memberInGroup } from '../kinds/social.ts'
import { identifierNumber } from '../numbers.ts'
import { personAt } from '../people.ts'
import type { LifeEventType, RegistryStartState } from './life-row.ts'

/** Makes the type of events with documents of new people. */
export function newPeopleEventType(
  generator: KindGenerator,
  reg_event_type: string,
  { population, next }: RegistryStartState,
): LifeEventType {
  let ordinal = next
  const happen = () => [{ reg_event_type, record: generator.document(population, ordinal++) }]
  return { name: 'newcomers', weight: 60, happen }
}

/**
 * The largest number of documents of a household: its Group, and a Member for each of eight persons. If the number of documents
 * is divided by it, at least so many households exist.
 */
const MOST_HOUSEHOLD_DOCUMENTS = 9

/** Makes the type of events that add a member to an existing household. */
export function newHouseholdMemberEventType({ population, documents, next }: RegistryStartState): LifeEventType {
  let index = next * MOST_HOUSEHOLD_DOCUMENTS
  return {
    name: 'new members',
    weight: 40,
    happen(stream) {
      const number = stream.below(Math.max(1, Math.floor(documents / MOST_HOUSEHOLD_DOCUMENTS)))
      const household = householdNumbered(population, number)
      const household_id = identifierNumber(population, 'HOUSEHOLD_ID', household.number)
      const record = {
        '@type': 'spdci:Group',
        group_identifier: [identifier('HOUSEHOLD_ID', household_id)],
        member_list: [memberInGroup(personAt(population, index++))],
      }
      return [{ reg_event_type: 'NewHouseHoldMember', record }]
    },
  }
}
