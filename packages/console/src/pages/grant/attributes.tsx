/** The table of attributes in the grant's form: which may be asked about, and which may be seen. */

import { Checkbox } from '@mantine/core'
import type { Registry } from '../../api/answers.ts'
import { type Column, DataTable, rowsAsQuery } from '../../parts/table.tsx'
import { GRANT } from '../../texts/grants.ts'
import { type Draft, findNameGrantingAttribute, grantedNames, isGrantedName, toggleName } from './draft.ts'
import styles from './grant.module.css'

const { edit: TEXTS } = GRANT
const { columns: TITLES } = TEXTS
const ASK_AND_SEE_LABELS = { ask: TEXTS.askOf, see: TEXTS.seeOf } as const
type AskOrSee = keyof typeof ASK_AND_SEE_LABELS

interface Row {
  readonly name: string
  readonly attributes: Registry['attributes']
}

interface AttributesProps {
  readonly registry: Registry
  readonly draft: Draft
  readonly set: (member: string, value: unknown) => void
}

export function Attributes({ registry, draft, set }: AttributesProps) {
  const rows = rowsOf(registry, draft)
  const box = (member: AskOrSee, { name, attributes }: Row) => {
    const names = grantedNames(draft, member)
    // No box for asking by identifiers: every participant that may ask may do so.
    if (member === 'ask' && name === TEXTS.identifier) return null
    const own = isGrantedName(names, name)
    const by = own ? undefined : attributes.map((one) => findNameGrantingAttribute(names, member, one)).find(Boolean)
    return (
      <Checkbox
        aria-label={ASK_AND_SEE_LABELS[member](name)}
        label={by && TEXTS.grantedBy(by)}
        checked={own || by !== undefined}
        disabled={by !== undefined}
        onChange={() => set(member, toggleName(names, name, listRowNames(member, rows)))}
      />
    )
  }
  const columns: readonly Column<Row>[] = [
    { title: TITLES.name, cell: ({ name }) => <code>{name}</code> },
    { title: TITLES.types, cell: ({ attributes }) => attributes.map((one) => one.record_type).join(', '), wideOnly: true },
    { title: TITLES.ask, cell: (row) => box('ask', row) },
    { title: TITLES.see, cell: (row) => box('see', row) },
  ]
  return (
    <fieldset className={styles.names}>
      <legend>{TEXTS.attributes}</legend>
      {(['ask', 'see'] as const).map((member) => (
        <Checkbox
          key={member}
          label={`${TITLES[member]}: ${TEXTS.everything}`}
          checked={grantedNames(draft, member) === 'all'}
          onChange={() => set(member, grantedNames(draft, member) === 'all' ? listRowNames(member, rows) : 'all')}
        />
      ))}
      <div className={styles.matrix}>
        <DataTable caption={TEXTS.attributesCaption} columns={columns} query={rowsAsQuery(rows)} keyOf={({ name }) => name} />
      </div>
    </fieldset>
  )
}

const listRowNames = (member: AskOrSee, rows: readonly Row[]): readonly string[] =>
  rows.map(({ name }) => name).filter((name) => member === 'see' || name !== TEXTS.identifier)

/** The rows of the table: the identifier, the attributes of the registry, and the other names in the draft, such as relations. */
function rowsOf({ attributes }: Registry, draft: Draft): readonly Row[] {
  const granted = (['ask', 'see'] as const).flatMap((member) => {
    const names = grantedNames(draft, member)
    return names === 'all' ? [] : names
  })
  const names = [...new Set([TEXTS.identifier, ...attributes.map(({ name }) => name), ...granted])]
  return names.map((name) => ({ name, attributes: attributes.filter((row) => row.name === name) }))
}
