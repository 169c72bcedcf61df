/** A list of the operators' tokens. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { useSession } from '../../session/session.ts'
import { COMMON } from '../../texts/common.ts'
import { OPERATORS } from '../../texts/settings.ts'
import { AddOperator } from './add-operator.tsx'

type Operator = Answer<'/admin/v1/operators'>[number]

const { columns: TITLES, revoke: REVOKE } = OPERATORS

const COLUMNS: readonly Column<Operator>[] = [
  { title: TITLES.name, cell: ({ name }) => name },
  { title: TITLES.roles, cell: ({ roles }) => roles.join(', ') },
  { title: TITLES.bound, cell: operatorScopeText, wideOnly: true },
  { title: TITLES.state, cell: (operator) => <Badge state={stateOf(operator)} />, stays: true },
  { title: TITLES.made, cell: ({ created_at }) => <Time at={created_at} />, wideOnly: true },
  { title: TITLES.expires, cell: ({ expires_at }) => <Time at={expires_at} relative /> },
]

const stateOf = ({ live, revoked_at }: Operator): string => {
  if (live) return OPERATORS.state.live
  return revoked_at === null ? OPERATORS.state.expired : OPERATORS.state.revoked
}

function operatorScopeText({ registries, authority }: Operator): string {
  if (authority !== null) return OPERATORS.authority(authority)
  return registries?.join(', ') ?? OPERATORS.everything
}

export function Operators() {
  const { operator: self } = useSession()
  const [ending, setEnding] = useState<string | null>(null)
  const query = useQuery({ queryKey: ['operators'], queryFn: () => answerTo(api.GET('/admin/v1/operators')) })
  const revoke = useAct({
    call: (name: string) => answerTo(api.POST('/admin/v1/operators/revoke', { body: { name } })),
    changes: ['operators'],
    done: ({ name }) => REVOKE.done(name),
    onOver: () => setEnding(null),
  })
  const act: Column<Operator> = {
    title: REVOKE.act,
    align: 'end',
    cell: ({ name, live }) =>
      live && (
        <Button variant="default" size="compact-sm" onClick={() => setEnding(name)} aria-label={REVOKE.title(name)}>
          {REVOKE.act}
        </Button>
      ),
  }
  return (
    <Section title={OPERATORS.title} lead={OPERATORS.lead} actions={<AddOperator />}>
      <PanelTable
        caption={OPERATORS.caption}
        columns={[...COLUMNS, act]}
        query={query}
        keyOf={({ name, created_at }) => `${name} ${created_at}`}
        empty={<Empty title={OPERATORS.empty} />}
      />
      <ConfirmDialog
        opened={ending !== null}
        title={REVOKE.title(ending ?? COMMON.none)}
        act={REVOKE.act}
        danger
        busy={revoke.isPending}
        onConfirm={() => ending !== null && revoke.mutate(ending)}
        onClose={() => setEnding(null)}
      >
        <p>{REVOKE.lead}</p>
        {ending === self && <p>{REVOKE.own}</p>}
      </ConfirmDialog>
    </Section>
  )
}
