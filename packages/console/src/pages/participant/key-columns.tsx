/** Columns of the table of registered keys, and the table of published keys: the partner page shows them too. */
import type { Participant } from '../../api/answers.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyableId } from '../../parts/identifier.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import type { Tone } from '../../parts/tones.ts'
import { PARTICIPANT } from '../../texts/participants.ts'

export type Key = Participant['keys'][number]
type PublishedKey = Participant['published_keys'][number]

const { keys: TEXTS } = PARTICIPANT
const { columns: TITLES, publishedColumns: PUBLISHED } = TEXTS

const KEY_STATE_TONES: Readonly<Record<Key['state'], Tone>> = { live: 'good', later: 'info', over: 'bad', revoked: 'quiet' }

export const KEY_COLUMNS: readonly Column<Key>[] = [
  { title: TITLES.kid, cell: ({ kid }) => <CopyableId value={kid} what={TITLES.kid} /> },
  { title: TITLES.use, cell: ({ use }) => TEXTS.uses[use] },
  { title: TITLES.algorithm, cell: ({ algorithm }) => algorithm, wideOnly: true },
  { title: TITLES.state, cell: ({ state }) => <Badge state={state} tone={KEY_STATE_TONES[state]} />, stays: true },
  { title: TITLES.from, cell: ({ valid_from }) => <Time at={valid_from} />, wideOnly: true },
  { title: TITLES.until, cell: ({ valid_until }) => (valid_until === null ? TEXTS.noEnd : <Time at={valid_until} relative />) },
]

const PUBLISHED_KEY_COLUMNS: readonly Column<PublishedKey>[] = [
  { title: PUBLISHED.kid, cell: ({ kid }) => <CopyableId value={kid} what={PUBLISHED.kid} /> },
  { title: PUBLISHED.first, cell: ({ first_used_at }) => <Time at={first_used_at} /> },
  { title: PUBLISHED.last, cell: ({ last_used_at }) => <Time at={last_used_at} relative /> },
]

interface PublishedKeysProps {
  readonly title: string
  readonly caption: string
  readonly keys: readonly PublishedKey[]
}

/** The published keys that have signed messages. Nothing is shown while there are none. */
export const PublishedKeys = ({ title, caption, keys }: PublishedKeysProps) =>
  keys.length > 0 && (
    <Section title={title}>
      <PanelTable caption={caption} columns={PUBLISHED_KEY_COLUMNS} query={rowsAsQuery(keys)} keyOf={({ kid }) => kid} />
    </Section>
  )
