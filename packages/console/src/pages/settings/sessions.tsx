/** A list of the operators who are signed in to the console. */
import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { useSession } from '../../session/session.ts'
import { COMMON, LOCALE } from '../../texts/common.ts'
import { OPERATORS } from '../../texts/settings.ts'

type Session = Answer<'/admin/v1/operators/sessions'>[number]

const { sessions: TEXTS } = OPERATORS
const { columns: TITLES, end: END } = TEXTS

const COLUMNS: readonly Column<Session>[] = [
  { title: TITLES.name, cell: ({ name }) => name },
  { title: TITLES.by, cell: ({ provider }) => provider ?? TEXTS.token, wideOnly: true },
  { title: TITLES.began, cell: ({ created_at }) => <Time at={created_at} />, wideOnly: true },
  { title: TITLES.seen, cell: ({ seen_at }) => <Time at={seen_at} relative /> },
  { title: TITLES.ends, cell: ({ ends_at }) => <Time at={ends_at} relative />, wideOnly: true },
]

export function Sessions() {
  const { operator: self } = useSession()
  const [ending, setEnding] = useState<Session | null>(null)
  const query = useQuery({
    queryKey: ['operators', 'sessions'],
    queryFn: () => answerTo(api.GET('/admin/v1/operators/sessions')),
  })
  const end = useAct({
    call: (body: { name: string; id?: number }) => answerTo(api.POST('/admin/v1/operators/sessions/end', { body })),
    changes: ['operators'],
    done: ({ name, sessions }) => END.done(name, numberText(sessions, LOCALE)),
    onOver: () => setEnding(null),
  })
  const act: Column<Session> = {
    title: END.act,
    align: 'end',
    cell: (session) => (
      <Button variant="default" size="compact-sm" onClick={() => setEnding(session)} aria-label={END.title(session.name)}>
        {END.act}
      </Button>
    ),
  }
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead}>
      <PanelTable
        caption={TEXTS.caption}
        columns={[...COLUMNS, act]}
        query={query}
        keyOf={({ id }) => String(id)}
        empty={<Empty title={TEXTS.empty} />}
      />
      <ConfirmDialog
        opened={ending !== null}
        title={END.title(ending?.name ?? COMMON.none)}
        act={END.act}
        danger
        busy={end.isPending}
        onConfirm={(given) =>
          ending !== null && end.mutate({ name: ending.name, ...(given.get('all') === null && { id: ending.id }) })
        }
        onClose={() => setEnding(null)}
      >
        <p>{END.lead}</p>
        <Checkbox name="all" label={END.all} />
        {ending?.name === self && <p>{END.own}</p>}
      </ConfirmDialog>
    </Section>
  )
}
