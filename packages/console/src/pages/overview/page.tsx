/** The first page: the last 24 hours, and matters that need an operator. */
import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../../api/client.ts'
import { DemoPageLink } from '../../parts/demo-page.tsx'
import { PageFrame } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { useSession } from '../../session/session.ts'
import { OVERVIEW } from '../../texts/overview.ts'
import { PAGES } from '../../texts/pages.ts'
import { Attention } from './attention.tsx'
import { ComingEndsTable } from './ends.tsx'
import styles from './overview.module.css'
import { Tiles } from './tiles.tsx'
import { Traffic } from './traffic.tsx'

const RELOAD_INTERVAL_MS = 30_000
/** Milliseconds between reloads in a demo, and elsewhere until the server has counted the messages of each shown hour. */
const FAST_RELOAD_INTERVAL_MS = 2_000

export function Page() {
  const { demo } = useSession()
  const own = useOperatorNamespace()
  const query = useQuery({
    queryKey: ['overview'],
    queryFn: () => answerTo(api.GET('/admin/v1/overview', { params: { query: own } })),
    refetchInterval: ({ state }) =>
      demo || state.data?.hours.some(({ counted }) => !counted) === true ? FAST_RELOAD_INTERVAL_MS : RELOAD_INTERVAL_MS,
  })
  return (
    <PageFrame
      title={PAGES.overview}
      lead={own.namespace === undefined ? OVERVIEW.lead : OVERVIEW.leadOf(own.namespace)}
      actions={
        <>
          {query.data && (
            <span className={styles.updated}>
              {OVERVIEW.updated} <Time at={query.data.at} seconds />
            </span>
          )}
          <DemoPageLink />
        </>
      }
    >
      <Loaded query={query} lines={12}>
        {(overview) => (
          <>
            <Tiles overview={overview} />
            <Attention overview={overview} />
            <Traffic overview={overview} />
            {overview.expiring.length > 0 && <ComingEndsTable rows={overview.expiring} />}
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}
