/** Counts what a participant loses when its access is taken away, for the dialog that asks before the act. */
import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../api/client.ts'
import { AT_STAKE } from '../texts/at-stake.ts'
import { LOCALE } from '../texts/common.ts'
import { FactList } from './page.tsx'
import { Loaded } from './states.tsx'
import { numberText } from './times.ts'

/** The most subscriptions, and the most deliveries, that are counted. */
const MOST_COUNTED_ROWS = 100

const cappedCountText = (number: number): string =>
  number < MOST_COUNTED_ROWS ? numberText(number, LOCALE) : AT_STAKE.orMore(numberText(MOST_COUNTED_ROWS, LOCALE))

interface LossOfAccessProps {
  readonly participant: string
  /** The registry; absent: all registries. */
  readonly namespace?: string
}

export function LossOfAccess({ participant, namespace }: LossOfAccessProps) {
  const query = useQuery({
    queryKey: ['participants', 'at stake', participant, namespace],
    queryFn: () => countLoss({ participant, namespace }),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Loaded query={query} lines={2}>
      {({ grants, subscriptions, deliveries }) => (
        <FactList
          rows={[
            [AT_STAKE.grants, numberText(grants, LOCALE)],
            [AT_STAKE.subscriptions, cappedCountText(subscriptions)],
            [AT_STAKE.deliveries, cappedCountText(deliveries)],
          ]}
        />
      )}
    </Loaded>
  )
}

async function countLoss(of: LossOfAccessProps) {
  const { participant: sender_id, namespace } = of
  const [grants, subscriptions, deliveries] = await Promise.all([
    answerTo(api.GET('/admin/v1/grants', { params: { query: { sender_id, namespace } } })),
    answerTo(api.GET('/admin/v1/subscriptions', { params: { query: { ...of, state: 'live', limit: MOST_COUNTED_ROWS } } })),
    answerTo(api.GET('/admin/v1/deliveries', { params: { query: { ...of, state: 'pending', limit: MOST_COUNTED_ROWS } } })),
  ])
  const isOver = ({ valid_until }: (typeof grants)[number]) => valid_until !== null && Date.parse(valid_until) <= Date.now()
  return {
    grants: grants.filter((grant) => !isOver(grant)).length,
    subscriptions: subscriptions.length,
    deliveries: deliveries.length,
  }
}
