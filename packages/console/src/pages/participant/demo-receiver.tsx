/** In a demo: the receiver of callbacks that it runs for its participant, to break and to mend. */

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Participant } from '../../api/answers.ts'
import { answered, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { Facts, Panel, Section } from '../../parts/page.tsx'
import { count } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { PARTICIPANT } from '../../texts/participants.ts'

const { receiver: TEXTS } = PARTICIPANT
const { names: NAMES } = TEXTS
const EVERY_MS = 5_000

export function DemoReceiver({ participant: { sender_id, demo, callback } }: { readonly participant: Participant }) {
  const may = useMay()
  const { data } = useQuery({
    queryKey: ['demo-receiver'],
    queryFn: () => answered(api.GET('/admin/v1/demo/receiver')),
    enabled: demo,
    refetchInterval: ({ state }) => (state.data === undefined ? false : EVERY_MS),
  })
  const act = useAct({
    call: (answers: boolean) => answered(api.POST('/admin/v1/demo/receiver', { body: { answers } })),
    changes: ['demo-receiver'],
    done: ({ answers }) => (answers ? TEXTS.mended : TEXTS.broken),
  })
  if (data?.sender_id !== sender_id) return null
  const { answers, url, taken, not_taken } = data
  return (
    <Section
      title={TEXTS.title}
      lead={TEXTS.lead}
      actions={
        may('operate') && (
          <Button variant="default" loading={act.isPending} onClick={() => act.mutate(!answers)}>
            {answers ? TEXTS.break : TEXTS.mend}
          </Button>
        )
      }
    >
      <Panel padded>
        <Facts
          rows={[
            [
              NAMES.state,
              <Badge key="state" state={answers ? TEXTS.answers : TEXTS.fails} tone={answers ? 'good' : 'bad'} />,
            ],
            [NAMES.url, <code key="url">{url}</code>],
            [NAMES.taken, count(taken, LOCALE)],
            [NAMES.not_taken, count(not_taken, LOCALE)],
          ]}
        />
        {callback.default_url !== url && <p>{TEXTS.elsewhere}</p>}
        <p>
          <a href={`#/try?answer=later&sender_id=${encodeURIComponent(sender_id)}`}>{TEXTS.toTry}</a>{' '}
          <a href="#/deliveries">{TEXTS.toDeliveries}</a>
        </p>
      </Panel>
    </Section>
  )
}
