/** The grants of a participant, by registry, and the matrix of operations. */

import { IconCheck, IconMinus } from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { Participant } from '../../api/answers.ts'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import tableStyles from '../../parts/table.module.css'
import { type Column, DataTable, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { GRANTS } from '../../texts/grants.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import styles from './participant.module.css'

type Grant = Answer<'/admin/v1/grants'>[number]
type GrantedNames = 'all' | readonly string[]

interface Row {
  readonly namespace: string
  /** The grant in this registry; null: there is none. */
  readonly grant: Grant | null
}

const { columns: TITLES } = GRANTS

/** Says how many names are granted. `none` is the text for an empty list. */
const grantedCountText = (names: GrantedNames, none: string): string => {
  if (names === 'all') return GRANTS.all
  return names.length === 0 ? none : GRANTS.number(numberText(names.length, LOCALE))
}

const COLUMNS: readonly Column<Row>[] = [
  { title: TITLES.registry, cell: ({ namespace }) => namespace },
  {
    title: TITLES.operations,
    cell: ({ grant }) => {
      if (grant === null) return <Badge state={GRANTS.noGrant} />
      const { operations } = grant.terms
      return operations === 'all' ? GRANTS.all : operations.join(', ')
    },
  },
  { title: TITLES.asks, cell: ({ grant }) => grant && grantedCountText(grant.terms.ask ?? [], GRANTS.identifiersOnly) },
  { title: TITLES.sees, cell: ({ grant }) => grant && grantedCountText(grant.terms.see, GRANTS.number('0')) },
  { title: TITLES.basis, cell: ({ grant }) => grant?.terms.basis, wideOnly: true },
  { title: TITLES.from, cell: ({ grant }) => grant && <Time at={grant.valid_from} />, wideOnly: true },
  {
    title: TITLES.until,
    cell: ({ grant }) => grant && (grant.valid_until === null ? GRANTS.noEnd : <Time at={grant.valid_until} relative />),
  },
]

export function Grants({ participant }: { readonly participant: Participant }) {
  const { sender_id, environment, grants } = participant
  const registries = useQuery({ queryKey: ['registries', 'all'], queryFn: () => answerTo(api.GET('/admin/v1/registries')) })
  const rows = registries.data?.flatMap(({ namespace, environment: its }): Row[] => {
    const granted = grants.filter((grant) => grant.namespace === namespace)
    if (granted.length > 0) return granted.map((grant) => ({ namespace, grant }))
    return its === environment ? [{ namespace, grant: null }] : []
  })
  return (
    <Section title={GRANTS.title} lead={GRANTS.lead}>
      <PanelTable
        caption={GRANTS.caption}
        columns={COLUMNS}
        query={{ ...registries, data: rows }}
        keyOf={({ namespace, grant }) => `${namespace} ${grant?.version}`}
        linkOf={({ namespace }) => `/participants/${encodeURIComponent(sender_id)}/grants/${encodeURIComponent(namespace)}`}
        empty={<Empty next={NEXT_STEPS.addRegistry} title={GRANTS.none} />}
      />
      {grants.length > 0 && <OperationMatrix grants={filterInForce(grants)} />}
    </Section>
  )
}

function filterInForce(grants: readonly Grant[]): readonly Grant[] {
  const now = Date.now()
  return grants.filter(
    ({ valid_from, valid_until }) => Date.parse(valid_from) <= now && (valid_until === null || Date.parse(valid_until) > now),
  )
}

/** A table of operations by registry, as the grants in force permit them. */
function OperationMatrix({ grants }: { readonly grants: readonly Grant[] }) {
  const registries = useQueries({
    queries: grants.map(({ namespace }) => ({
      queryKey: ['registries', 'one', namespace],
      queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}', { params: { path: { namespace } } })),
    })),
  })
  const known = new Map(registries.flatMap(({ data }) => (data ? [[data.namespace, data.operations]] : [])))
  const operations = [...new Set([...known.values()].flat())]
  const columns: readonly Column<string>[] = [
    { title: GRANTS.operation, cell: (operation) => <code>{operation}</code> },
    ...grants.map(({ namespace, terms }) => ({
      title: namespace,
      cell: (operation: string) => (
        <OperationMark names={terms.operations} known={known.get(namespace) ?? []} operation={operation} />
      ),
    })),
  ]
  const [waiting] = registries.filter(({ data }) => data === undefined)
  return (
    <Panel>
      <p className={styles.legend}>{GRANTS.legend}</p>
      <DataTable
        caption={GRANTS.matrixCaption}
        columns={columns}
        query={waiting === undefined ? rowsAsQuery(operations) : { ...waiting, data: undefined }}
        keyOf={(operation) => operation}
      />
    </Panel>
  )
}

interface OperationMarkProps {
  readonly names: GrantedNames
  readonly known: readonly string[]
  readonly operation: string
}

/** A sign that says whether an operation is granted, with a word for screen readers; no sign if the registry lacks it. */
function OperationMark({ names, known, operation }: OperationMarkProps) {
  if (!known.includes(operation)) return <span className={tableStyles.unseen}>{GRANTS.unknown}</span>
  const may = names === 'all' || names.includes(operation)
  const Icon = may ? IconCheck : IconMinus
  return (
    <span className={styles.mark} data-may={may} role="img" aria-label={may ? GRANTS.may : GRANTS.mayNot}>
      <Icon size={16} stroke={2.2} aria-hidden />
    </span>
  )
}
