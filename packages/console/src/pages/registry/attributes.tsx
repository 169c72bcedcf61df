/** Searchable attributes with their indexes; attributes are added, indexed and removed here. */
import type { Registry } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { useMay } from '../../session/session.ts'
import { REGISTRY } from '../../texts/registries.ts'

type Attribute = Registry['attributes'][number]

const { attributes: TEXTS } = REGISTRY
const { columns: TITLES, fields: FIELDS } = TEXTS
const ATTRIBUTE_TYPES: readonly Exclude<Attribute['type'], 'age'>[] = [
  ...(['text', 'code', 'date'] as const),
  ...(['datetime', 'number', 'boolean'] as const),
]
const QUERY_KEYS_TO_RELOAD = ['registries'] as const

const COLUMNS: readonly Column<Attribute>[] = [
  {
    title: TITLES.name,
    cell: ({ name, from }) => (
      <>
        <code>{name}</code> {from === 'registry' && <Badge state={TEXTS.of[from]} />}
      </>
    ),
  },
  { title: TITLES.record_type, cell: ({ record_type }) => record_type },
  { title: TITLES.type, cell: ({ type, codes }) => (codes === null ? type : `${type} (${codes})`) },
  {
    title: TITLES.index,
    cell: ({ indexed, filled }) => (
      <>
        <Badge state={indexed ? TEXTS.indexed : TEXTS.unindexed} tone={indexed ? 'good' : 'quiet'} />{' '}
        {!filled && <Badge state={TEXTS.unfilled} tone="bad" />}
      </>
    ),
  },
  { title: TITLES.paths, cell: ({ paths }) => <code>{paths.join(', ')}</code>, wideOnly: true },
]

/** True if the records are in our own tables, also as copies. Records that are read live from a source have no columns here. */
export const hasRecordTables = ({ source }: Registry): boolean =>
  source === null || (source as { readonly way?: string }).way === 'mirror'

export function Attributes({ registry }: { readonly registry: Registry }) {
  const { namespace, attributes, primary_identifiers } = registry
  const mayOperate = useMay()('operate')
  const acts: Column<Attribute> = {
    title: TITLES.acts,
    cell: (row) => <AttributeActs namespace={namespace} attribute={row} mayIndex={hasRecordTables(registry)} />,
  }
  return (
    <Section
      title={TEXTS.title}
      lead={TEXTS.lead}
      actions={mayOperate && <AddAttributeButton namespace={namespace} types={Object.keys(primary_identifiers)} />}
    >
      <PanelTable
        caption={TEXTS.caption}
        columns={mayOperate ? [...COLUMNS, acts] : COLUMNS}
        query={rowsAsQuery(attributes)}
        keyOf={({ record_type, name }) => `${record_type} ${name}`}
      />
    </Section>
  )
}

interface ActsProps {
  readonly namespace: string
  readonly attribute: Attribute
  readonly mayIndex: boolean
}

function AttributeActs({ namespace, attribute: { record_type, name, type, indexed, from }, mayIndex }: ActsProps) {
  const named = { params: { path: { namespace } }, body: { record_type, name } }
  return (
    <>
      {mayIndex && !indexed && type !== 'age' && (
        <FormDialog
          small
          label={TEXTS.index}
          title={TEXTS.indexTitle(name)}
          call={() => answerTo(api.POST('/admin/v1/registries/{namespace}/attributes/index', named))}
          changes={QUERY_KEYS_TO_RELOAD}
          done={() => TEXTS.indexDone}
        >
          <p>{TEXTS.indexLead}</p>
        </FormDialog>
      )}
      {from === 'registry' && (
        <FormDialog
          small
          danger
          label={TEXTS.remove}
          title={TEXTS.removeTitle(name)}
          call={() => answerTo(api.POST('/admin/v1/registries/{namespace}/attributes/remove', named))}
          changes={QUERY_KEYS_TO_RELOAD}
          done={() => TEXTS.removeDone(name)}
        >
          <p>{TEXTS.removeLead}</p>
        </FormDialog>
      )}
    </>
  )
}

const AddAttributeButton = ({ namespace, types }: { readonly namespace: string; readonly types: readonly string[] }) => (
  <FormDialog
    label={TEXTS.add}
    title={TEXTS.add}
    fields={[
      { name: 'record_type', label: FIELDS.record_type, as: 'choice', options: types, required: true },
      { name: 'name', label: FIELDS.name, note: FIELDS.nameNote, required: true },
      { name: 'type', label: FIELDS.type, as: 'choice', options: ATTRIBUTE_TYPES, required: true },
      { name: 'paths', label: FIELDS.paths, note: FIELDS.pathsNote, as: 'area', required: true },
      { name: 'many', label: FIELDS.many, as: 'flag' },
      { name: 'fold', label: FIELDS.fold, as: 'flag' },
      { name: 'indexed', label: FIELDS.indexed, as: 'flag' },
      { name: 'sortable', label: FIELDS.sortable, as: 'flag' },
    ]}
    call={(given) =>
      answerTo(
        api.POST('/admin/v1/registries/{namespace}/attributes', {
          params: { path: { namespace } },
          body: {
            record_type: given.text('record_type') ?? '',
            name: given.text('name') ?? '',
            type: given.choice('type', ATTRIBUTE_TYPES) ?? 'text',
            paths: given.lines('paths'),
            many: given.flag('many'),
            fold: given.flag('fold'),
            indexed: given.flag('indexed'),
            sortable: given.flag('sortable'),
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
