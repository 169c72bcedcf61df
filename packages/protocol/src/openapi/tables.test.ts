import { expect, it } from 'vitest'
import { kindNamed } from '../kinds/index.ts'
import type { Kind } from '../kinds/kind.ts'
import { kindMarkdown, markdownTable, reasonCodeTable } from './tables.ts'

const social = kindNamed('social') as Kind

it('writes a Markdown table', () => {
  expect(markdownTable(['A', 'B'], [['1', '2']])).toBe('| A | B |\n| --- | --- |\n| 1 | 2 |')
  expect(markdownTable(['A'], [['x|y']])).toBe('| A |\n| --- |\n| x\\|y |')
})

it('says of a kind what it knows', () => {
  const lines = kindMarkdown(social).split('\n')
  expect(lines).toContain('| UIN |  |')
  expect(lines).toContain('| Group | Group | Household, Family, SRGroup | HOUSEHOLD_ID |')
  expect(lines).toContain('| group_size | household_size | number | `group_size` | yes | yes |')
  expect(lines).toContain('| group_type | household_type | code of group_type | `group_type` |  |  |')
  expect(lines).toContain('| NewHouseHoldMember | new_household_member |')
  expect(lines).toContain('## Searchable attributes of Member')
  expect(lines).toContain('| age |  | age since birth_date |  | yes |  |')
  expect(lines).toContain('## Lists of Group')
  expect(lines).toContain(
    '- household_member (also accepted: group_member, member_list.household_member, member_list): `member_list.household_member`, `member_list`, `group_head_info`',
  )
  expect(lines).toContain(
    '| household_member | sex | gender | code of sex | `demographic_info.sex`, `demographic_info.person.sex` |  |',
  )
  expect(lines).toContain('Unless `reg_record_type` or `response_entity` names another one, the record type is Member.')
})

it('lists the codes of one place only', () => {
  const text = reasonCodeTable('unsubscribe')
  expect(text).toContain('| `rjct.requester.invalid` | The sender has lost the right to the subscription. |')
  expect(text).not.toContain('rjct.sort.invalid')
})
