/** The identifier types of a registry; types are added, changed and removed here. */
import { useState } from 'react'
import type { Registry } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { changedFormMembers } from '../../parts/form-values.ts'
import { Section } from '../../parts/page.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { useMay } from '../../session/session.ts'
import { COMMON } from '../../texts/common.ts'
import { REGISTRY } from '../../texts/registries.ts'

type IdentifierType = Registry['identifier_types'][number]

const { identifiers: TEXTS, attributes } = REGISTRY
const { columns: TITLES, fields: FIELDS } = TEXTS
const COMPARED_AS_CHOICES = ['code', 'phone', 'email'] as const
const TYPES_PATH = '/admin/v1/registries/{namespace}/identifier-types'
const QUERY_KEYS_TO_RELOAD = ['registries'] as const

const COLUMNS: readonly Column<IdentifierType>[] = [
  { title: TITLES.name, cell: ({ name }) => <code>{name}</code> },
  { title: TITLES.compared, cell: ({ compared_as }) => compared_as },
  { title: TITLES.patterns, cell: ({ patterns }) => (patterns.length === 0 ? TEXTS.any : <code>{patterns.join(', ')}</code>) },
  { title: TITLES.primary, cell: ({ primary }) => primary.join(', ') || COMMON.none },
  { title: TITLES.aliases, cell: ({ aliases }) => aliases.join(', '), wideOnly: true },
  { title: TITLES.from, cell: ({ from }) => attributes.of[from], wideOnly: true },
]

export function IdentifierTypes({ registry }: { readonly registry: Registry }) {
  const { namespace, identifier_types } = registry
  const mayOperate = useMay()('operate')
  const acts: Column<IdentifierType> = {
    title: TITLES.acts,
    cell: (row) => row.from === 'registry' && <IdentifierTypeActs namespace={namespace} type={row} />,
  }
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead} actions={mayOperate && <AddTypeButton namespace={namespace} />}>
      <PanelTable
        caption={TEXTS.caption}
        columns={mayOperate ? [...COLUMNS, acts] : COLUMNS}
        query={rowsAsQuery(identifier_types)}
        keyOf={({ name }) => name}
      />
    </Section>
  )
}

const patternsField = { name: 'patterns', label: FIELDS.patterns, note: FIELDS.patternsNote, as: 'area' } as const
const aliasesField = { name: 'aliases', label: FIELDS.aliases, note: FIELDS.aliasesNote, as: 'area' } as const

const AddTypeButton = ({ namespace }: { readonly namespace: string }) => (
  <FormDialog
    label={TEXTS.add}
    title={TEXTS.add}
    fields={[
      { name: 'name', label: FIELDS.name, note: FIELDS.nameNote, required: true },
      {
        name: 'compared_as',
        label: FIELDS.compared,
        note: FIELDS.comparedNote,
        as: 'choice',
        options: COMPARED_AS_CHOICES,
        empty: FIELDS.comparedDefault,
      },
      patternsField,
      aliasesField,
    ]}
    call={(given) =>
      answerTo(
        api.POST(TYPES_PATH, {
          params: { path: { namespace } },
          body: {
            name: given.text('name') ?? '',
            compared_as: given.choice('compared_as', COMPARED_AS_CHOICES),
            patterns: given.lines('patterns'),
            aliases: given.lines('aliases'),
          },
        }),
      )
    }
    changes={QUERY_KEYS_TO_RELOAD}
    done={({ name }) => TEXTS.added(name)}
  >
    <p>{TEXTS.addLead}</p>
  </FormDialog>
)

interface ActsProps {
  readonly namespace: string
  readonly type: IdentifierType
}

function IdentifierTypeActs({ namespace, type }: ActsProps) {
  const [shown, setShown] = useState(type)
  const { name } = type
  const path = { params: { path: { namespace } } }
  return (
    <>
      <FormDialog
        small
        label={TEXTS.change}
        title={TEXTS.changeTitle(name)}
        act={TEXTS.save}
        onOpen={() => setShown(type)}
        fields={[
          { ...patternsField, value: shown.patterns.join('\n') },
          { ...aliasesField, value: shown.aliases.join('\n') },
        ]}
        call={(given) => {
          const changed = changedFormMembers({ patterns: given.lines('patterns'), aliases: given.lines('aliases') }, shown)
          return answerTo(api.POST(`${TYPES_PATH}/change`, { ...path, body: { name, ...changed } }))
        }}
        changes={QUERY_KEYS_TO_RELOAD}
        done={() => TEXTS.changed(name)}
      >
        <p>{TEXTS.changeLead}</p>
      </FormDialog>
      <FormDialog
        small
        danger
        label={TEXTS.remove}
        title={TEXTS.removeTitle(name)}
        call={() => answerTo(api.POST(`${TYPES_PATH}/remove`, { ...path, body: { name } }))}
        changes={QUERY_KEYS_TO_RELOAD}
        done={() => TEXTS.removed(name)}
      >
        <p>{TEXTS.removeLead}</p>
      </FormDialog>
    </>
  )
}
