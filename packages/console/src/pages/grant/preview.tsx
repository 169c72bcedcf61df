/** Shows a synthetic record whole, and as the participant would see it. */

import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../../api/client.ts'
import type { paths } from '../../api/schema.d.ts'
import { SideBySide } from '../../parts/columns.tsx'
import { Document, jsonText } from '../../parts/document.tsx'
import { Panel, Section } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { GRANT } from '../../texts/grants.ts'
import { type Draft, sortMembers, type Terms } from './draft.ts'
import styles from './grant.module.css'
import type { GrantAddress } from './grant-address.ts'

const { preview: TEXTS } = GRANT

interface PreviewProps {
  readonly title: string
  readonly lead: string
  readonly whose: GrantAddress
  /** The terms to preview (default: those in force). */
  readonly terms?: Draft
}

export function Preview({ title, lead, whose, terms }: PreviewProps) {
  const query = useQuery({
    queryKey: ['grants', 'preview', whose, terms],
    queryFn: () =>
      answerTo(
        api.POST('/admin/v1/registries/{namespace}/grants/{sender_id}/preview', {
          params: { path: whose },
          // The server checks the terms.
          body: terms === undefined ? {} : { terms: terms as Terms },
        }),
      ),
  })
  return (
    <Section title={title} lead={lead}>
      <Panel padded>
        <Loaded query={query}>
          {({ records }) => (
            <div className={styles.records}>
              {records.map((record) => (
                <WholeAndShownRecord key={record.record_type} record={record} />
              ))}
            </div>
          )}
        </Loaded>
      </Panel>
    </Section>
  )
}

type PreviewOperation = paths['/admin/v1/registries/{namespace}/grants/{sender_id}/preview']['post']
type PreviewedRecord = PreviewOperation['responses'][200]['content']['application/json']['records'][number]

function WholeAndShownRecord({ record }: { readonly record: PreviewedRecord }) {
  const { record_type, granted, before, after, cut } = record
  return (
    <div>
      <SideBySide>
        <Document title={TEXTS.whole(record_type)} text={jsonText(sortMembers(before))} />
        {after === null ? (
          <p className={styles.nothing}>{granted ? TEXTS.notFound : TEXTS.notGranted}</p>
        ) : (
          <Document title={TEXTS.shown(record_type)} text={jsonText(sortMembers(after))} />
        )}
      </SideBySide>
      {cut.length > 0 && (
        <details className={styles.cut}>
          <summary>{TEXTS.cut(numberText(cut.length, LOCALE))}</summary>
          <code>{cut.join(', ')}</code>
        </details>
      )}
    </div>
  )
}
