/** The form for the terms of a grant. Nothing changes until the terms are granted. */

import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ExplainedGrant, Registry } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { Panel, Section } from '../../parts/page.tsx'
import { numberText } from '../../parts/times.ts'
import { useAct } from '../../parts/use-act.tsx'
import { LOCALE } from '../../texts/common.ts'
import { GRANT } from '../../texts/grants.ts'
import { Attributes } from './attributes.tsx'
import { GrantTermFields } from './conditions.tsx'
import { type Draft, EMPTY_DRAFT, grantedNames, type Terms, withMember } from './draft.ts'
import styles from './grant.module.css'
import type { GrantAddress } from './grant-address.ts'
import { GrantTermsButton } from './grant-it.tsx'
import { GrantNameCheckboxes } from './name-list.tsx'
import { Preview } from './preview.tsx'

const { edit: TEXTS } = GRANT
const QUERY_FORMS = ['identifier', 'expression', 'predicate', 'graphql']
/** The server proposes narrower terms from the audit entries of this many days. */
const AUDITED_DAYS_FOR_PROPOSAL = 90

/** Members of a grant that are lists of names, each with a function that returns the names that a registry knows. */
const GRANT_NAME_LISTS: readonly {
  readonly member: keyof typeof TEXTS.lists
  readonly known: (registry: Registry) => readonly string[]
}[] = [
  { member: 'operations', known: ({ operations }) => operations },
  { member: 'record_types', known: ({ primary_identifiers }) => Object.keys(primary_identifiers) },
  { member: 'query_forms', known: () => QUERY_FORMS },
  { member: 'identifier_types', known: ({ identifier_types }) => identifier_types.map(({ name }) => name) },
  { member: 'event_types', known: ({ event_types }) => event_types },
]

interface EditorProps {
  readonly whose: GrantAddress
  readonly registry: Registry
  /** The grant in force; null when there is none yet. */
  readonly grant: ExplainedGrant | null
}

export function Editor({ whose, registry, grant }: EditorProps) {
  const terms: Terms | null = grant?.terms ?? null
  const before: Draft = terms ?? EMPTY_DRAFT
  const [draft, setDraft] = useState(before)
  const [tried, setTried] = useState<Draft | null>(null)
  const set = (member: string, value: unknown) => setDraft((last) => withMember(last, member, value))
  return (
    <>
      <Section
        title={terms === null ? TEXTS.newTitle : TEXTS.title}
        lead={TEXTS.lead}
        actions={terms !== null && <NarrowGrantButton whose={whose} onProposed={setDraft} />}
      >
        <Panel padded>
          <div className={styles.editor}>
            <TemplateChoice namespace={whose.namespace} onChosen={setDraft} />
            {GRANT_NAME_LISTS.map(({ member, known }) => (
              <GrantNameCheckboxes
                key={member}
                label={TEXTS.lists[member]}
                known={known(registry)}
                withAll
                names={grantedNames(draft, member)}
                onChange={(names) => set(member, names)}
              />
            ))}
            <Attributes registry={registry} draft={draft} set={set} />
            <GrantTermFields registry={registry} draft={draft} set={set} />
            <div className={styles.buttons}>
              <Button variant="subtle" onClick={() => setDraft(before)}>
                {TEXTS.undo}
              </Button>
              <Button variant="default" onClick={() => setTried(draft)}>
                {TEXTS.try}
              </Button>
              <GrantTermsButton whose={whose} version={grant?.version ?? null} before={terms ?? {}} draft={draft} />
            </div>
          </div>
        </Panel>
      </Section>
      {tried !== null && <Preview title={GRANT.preview.draftTitle} lead={GRANT.preview.draftLead} whose={whose} terms={tried} />}
    </>
  )
}

interface TemplatesProps {
  readonly namespace: string
  readonly onChosen: (draft: Draft) => void
}

function TemplateChoice({ namespace, onChosen }: TemplatesProps) {
  const { data = [] } = useQuery({
    queryKey: ['grants', 'templates', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}/grant-templates', { params: { path: { namespace } } })),
  })
  return (
    <NativeSelect
      label={TEXTS.template}
      description={TEXTS.templateNote}
      data={[
        { value: '', label: TEXTS.templateNone },
        ...data.map(({ name, description }) => ({ value: name, label: `${name}: ${description}` })),
      ]}
      onChange={(event) => {
        const found = data.find(({ name }) => name === event.currentTarget.value)
        if (found !== undefined) onChosen(found.terms)
      }}
    />
  )
}

interface NarrowButtonProps {
  readonly whose: GrantAddress
  readonly onProposed: (draft: Draft) => void
}

function NarrowGrantButton({ whose, onProposed }: NarrowButtonProps) {
  const act = useAct({
    call: () =>
      answerTo(
        api.GET('/admin/v1/registries/{namespace}/grants/{sender_id}/proposal', {
          params: { path: whose, query: { days: AUDITED_DAYS_FOR_PROPOSAL } },
        }),
      ),
    changes: [],
    done: () => TEXTS.narrowed(numberText(AUDITED_DAYS_FOR_PROPOSAL, LOCALE)),
    onDone: ({ terms }) => onProposed(terms),
  })
  return (
    <Button variant="default" loading={act.isPending} onClick={() => act.mutate(undefined)}>
      {TEXTS.narrow}
    </Button>
  )
}
