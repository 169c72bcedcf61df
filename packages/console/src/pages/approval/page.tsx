/** The page of an act that waits, or waited, for a second operator: its changes, and the decision. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Proposal } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { FactList, FactPanel, PageFrame, Panel, Section } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useAddressParts } from '../../parts/use-address.ts'
import { useMay } from '../../session/session.ts'
import { APPROVAL, approvalMeaning } from '../../texts/approvals.ts'
import { PAGES } from '../../texts/pages.ts'
import styles from './approval.module.css'
import { DecisionButtons } from './decision.tsx'
import { findScalarListText, isUnchangedLine } from './diff.ts'

type ProposalDiffLine = Proposal['diff'][number]

const { facts: NAMES, columns: TITLES } = APPROVAL

const DIFF_COLUMNS: readonly Column<ProposalDiffLine>[] = [
  { title: TITLES.at, cell: ({ at }) => <strong>{at}</strong> },
  { title: TITLES.from, cell: ({ from }) => <ValueText value={from} /> },
  { title: TITLES.to, cell: ({ from, to }) => (isUnchangedLine({ from, to }) ? APPROVAL.same : <ValueText value={to} />) },
]

export function Page() {
  const { id } = useAddressParts('id')
  const may = useMay()
  // Only this page keeps the answer of the act: leaving the page removes it.
  const [result, setResult] = useState<unknown>(undefined)
  const query = useQuery({
    queryKey: ['proposals', 'one', id],
    queryFn: () => answerTo(api.GET('/admin/v1/proposals/{id}', { params: { path: { id } } })),
  })
  const proposal = query.data
  const decides = proposal?.state === 'waiting' && proposal.role !== null && may(proposal.role)
  return (
    <PageFrame
      title={proposal === undefined ? PAGES.approval : APPROVAL.title(proposal.act)}
      lead={proposal && approvalMeaning(proposal.act)}
      above={<a href="#/approvals">{APPROVAL.above}</a>}
      actions={decides && !proposal.own && <DecisionButtons proposal={proposal} onResult={setResult} />}
    >
      <Loaded query={query} lines={10}>
        {(found) => (
          <>
            <Panel padded>
              {found.own && found.state === 'waiting' && <p>{APPROVAL.own}</p>}
              <FactList rows={makeProposalFactRows(found)} />
            </Panel>
            {result !== undefined && result !== null && (
              <Section title={APPROVAL.result} lead={APPROVAL.resultLead}>
                <Panel padded>
                  <ValueText value={result} />
                </Panel>
              </Section>
            )}
            <Section title={APPROVAL.changes}>
              <PanelTable
                caption={APPROVAL.changesCaption}
                columns={DIFF_COLUMNS}
                query={{ ...query, data: found.diff }}
                keyOf={({ at }) => at}
              />
            </Section>
            {found.confidential !== null && Object.keys(found.confidential).length > 0 && (
              <Section title={APPROVAL.confidential} lead={APPROVAL.confidentialLead}>
                <FactPanel
                  rows={Object.entries(found.confidential).map(([name, value]) => [name, <ValueText key={name} value={value} />])}
                />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

/** Shows a value as text; HTML in it is not interpreted. */
function ValueText({ value }: { readonly value: unknown }) {
  if (value === null) return APPROVAL.nothing
  const list = findScalarListText(value)
  if (list !== null) return <span className={styles.value}>{list}</span>
  if (typeof value === 'object') return <pre className={styles.value}>{JSON.stringify(value, null, 2)}</pre>
  return <code className={styles.value}>{String(value)}</code>
}

function makeProposalFactRows(proposal: Proposal) {
  const { id, state, proposed_by, proposed_at, lapses_at, role, decided_by, decided_at, failure } = proposal
  return [
    [NAMES.state, <Badge key="state" state={state} />],
    [NAMES.failure, failure],
    [NAMES.by, proposed_by],
    [NAMES.at, <Time key="at" at={proposed_at} seconds />],
    [NAMES.lapses, state === 'waiting' ? <Time key="lapses" at={lapses_at} relative /> : null],
    [NAMES.role, role],
    [NAMES.decided, decided_by],
    [NAMES.decidedAt, decided_at && <Time key="decided" at={decided_at} seconds />],
    [NAMES.id, <CopyableId key="id" value={id} what={APPROVAL.what} />],
  ] as const
}
