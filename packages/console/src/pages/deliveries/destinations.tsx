/** Destinations where deliveries fail, are held for lack of an address, or were given up, with reason and advice. */
import { useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { filterQueryText } from '../../parts/filters.ts'
import { Panel, Section } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { numberText } from '../../parts/times.ts'
import { useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { LOCALE } from '../../texts/common.ts'
import { DESTINATIONS } from '../../texts/deliveries.ts'
import { DeliveryActs } from './acts.tsx'
import styles from './deliveries.module.css'

type Destination = Answer<'/admin/v1/destinations'>['destinations'][number]

const RELOAD_INTERVAL_MS = 10_000

/** Lists destinations with failures; shows nothing when all destinations work. */
export function Destinations() {
  const own = useOperatorNamespace()
  const { data } = useQuery({
    queryKey: ['destinations'],
    queryFn: () => answerTo(api.GET('/admin/v1/destinations', { params: { query: own } })),
    refetchInterval: RELOAD_INTERVAL_MS,
  })
  const troubled = data?.destinations.filter(isTroubled) ?? []
  if (troubled.length === 0) return null
  return (
    <Section title={DESTINATIONS.title} lead={DESTINATIONS.lead}>
      <Panel>
        <ul className={styles.destinations}>
          {troubled.map((destination) => (
            <li key={`${destination.participant} ${destination.origin}`}>
              <OneDestination destination={destination} />
            </li>
          ))}
        </ul>
      </Panel>
    </Section>
  )
}

/** True when deliveries to the destination fail, are held or were given up, or when the last attempt failed. */
const isTroubled = ({ dead, held, failures, last_cause }: Destination): boolean =>
  dead > 0 || held > 0 || failures > 0 || last_cause !== null

function OneDestination({ destination }: { readonly destination: Destination }) {
  const { participant, origin, waiting, dead, held, failures, opened_at, probe_at, causes, last_cause } = destination
  // An empty origin chooses deliveries without an address.
  const choice = { ...useOperatorNamespace(), participant, origin: origin ?? '' }
  const state = held > 0 ? 'held' : 'dead'
  const listed = { participant, ...(origin === null ? { state } : { origin }) }
  return (
    <div className={styles.destination}>
      <div className={styles.head}>
        <a className={styles.where} href={`#/deliveries${filterQueryText(listed)}`}>
          {participant}
        </a>
        <code>{origin ?? DESTINATIONS.noAddress}</code>
        {dead > 0 && <Badge state="dead" label={DESTINATIONS.dead(numberText(dead, LOCALE))} />}
        {held > 0 && <Badge state="held" label={DESTINATIONS.held(numberText(held, LOCALE))} />}
        {waiting > 0 && <Badge state="pending" label={DESTINATIONS.waiting(numberText(waiting, LOCALE))} />}
        {opened_at !== null && <Badge state="open" tone="bad" label={DESTINATIONS.open} />}
      </div>
      {failures > 0 && (
        <p className={styles.muted}>
          {DESTINATIONS.failures(numberText(failures, LOCALE))}
          {probe_at !== null && (
            <>
              {' '}
              {DESTINATIONS.probe} <Time at={probe_at} relative />
            </>
          )}
        </p>
      )}
      {causes.map(({ cause, meaning, advice, deliveries }) => (
        <p key={cause} className={styles.cause}>
          {meaning} <span className={styles.muted}>{DESTINATIONS.times(numberText(deliveries, LOCALE))}</span>
          <span className={styles.advice}>{advice}</span>
        </p>
      ))}
      {last_cause !== null && causes.every(({ cause }) => cause !== last_cause.cause) && (
        <p className={styles.cause}>
          {last_cause.meaning}
          <span className={styles.advice}>{last_cause.advice}</span>
        </p>
      )}
      <div className={styles.acts}>
        <DeliveryActs
          small
          choice={choice}
          choices={{ replay: dead + held === 0 ? null : { ...choice, state } }}
          state={waiting + dead === 0 ? 'held' : undefined}
        />
      </div>
    </div>
  )
}
