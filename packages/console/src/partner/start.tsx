/** The first view: how far the participant's system has come, and an example of a first search. */
import { NativeSelect } from '@mantine/core'
import { IconCircle, IconCircleCheck, IconCircleMinus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answerTo } from '../api/client.ts'
import { Badge } from '../parts/badge.tsx'
import { Document } from '../parts/document.tsx'
import { PageFrame, Panel, Section } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import type { Tone } from '../parts/tones.ts'
import { PARTNER_START as TEXTS } from '../texts/partner.ts'
import { type PartnerAnswer, partnerApi } from './api.ts'
import styles from './start.module.css'
import { useOwnParticipant } from './use-self.ts'

type ChecklistStep = PartnerAnswer<'/partner/api/checklist'>[number]
type Example = PartnerAnswer<'/partner/api/examples'>[number]

const ICON_AND_TONE_BY_STEP_STATE: Readonly<
  Record<ChecklistStep['state'], { readonly icon: typeof IconCircle; readonly tone: Tone }>
> = {
  done: { icon: IconCircleCheck, tone: 'good' },
  open: { icon: IconCircle, tone: 'info' },
  skipped: { icon: IconCircleMinus, tone: 'quiet' },
}

/** Milliseconds after which the steps are loaded again: somebody may try a step meanwhile. */
const CHECKLIST_RELOAD_INTERVAL_MS = 10_000

export function StartView() {
  const self = useOwnParticipant()
  const checklist = useQuery({
    queryKey: ['checklist'],
    queryFn: () => answerTo(partnerApi.GET('/partner/api/checklist')),
    refetchInterval: CHECKLIST_RELOAD_INTERVAL_MS,
  })
  const examples = useQuery({
    queryKey: ['examples'],
    queryFn: () => answerTo(partnerApi.GET('/partner/api/examples')),
    // A message that somebody copies must not change meanwhile.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Loaded query={self}>
      {({ sender_id, name, client_id }) => (
        <PageFrame title={name} lead={TEXTS.lead(sender_id)}>
          <Section title={TEXTS.checklist} lead={TEXTS.checklistLead}>
            <Panel padded>
              <Loaded query={checklist}>
                {(steps) => (
                  <ol className={styles.steps}>
                    {steps.map((step) => (
                      <StepLine key={step.name} step={step} />
                    ))}
                  </ol>
                )}
              </Loaded>
            </Panel>
          </Section>
          <Section title={TEXTS.examples} lead={TEXTS.examplesLead}>
            <Panel padded>
              <Loaded query={examples}>{(rows) => <Examples rows={rows} client_id={client_id} />}</Loaded>
            </Panel>
          </Section>
        </PageFrame>
      )}
    </Loaded>
  )
}

function StepLine({ step: { name, state, text, at } }: { readonly step: ChecklistStep }) {
  const { icon: Icon, tone } = ICON_AND_TONE_BY_STEP_STATE[state]
  return (
    <li className={styles.step} data-tone={tone}>
      <Icon className={styles.icon} size={22} stroke={1.75} aria-hidden />
      <div className={styles.words}>
        <p className={styles.name}>
          {TEXTS.step[name]} <Badge state={state} label={TEXTS.state[state]} tone={tone} />
        </p>
        <p className={styles.text}>
          {text} {at !== null && <Time at={at} />}
        </p>
      </div>
    </li>
  )
}

function Examples({ rows, client_id }: { readonly rows: readonly Example[]; readonly client_id: string }) {
  const [chosen, choose] = useState<string>()
  const example = rows.find(({ namespace }) => namespace === chosen) ?? rows[0]
  if (example === undefined) return <Empty title={TEXTS.none}>{TEXTS.noneNote}</Empty>
  return (
    <div className={styles.examples}>
      {rows.length > 1 && (
        <NativeSelect
          className={styles.choice}
          label={TEXTS.registry}
          value={example.namespace}
          onChange={(event) => choose(event.currentTarget.value)}
          data={rows.map(({ namespace, title }) => ({ value: namespace, label: `${namespace}: ${title}` }))}
        />
      )}
      {example.must_sign && <p className={styles.note}>{TEXTS.mustSign}</p>}
      <Document title={TEXTS.typescript} text={example.typescript} />
      <Document title={TEXTS.python} text={example.python} />
      <Document title={TEXTS.java} text={example.java} />
      <Document title={TEXTS.shell} text={`${TEXTS.setup(location.origin, client_id)}\n${example.curl}`} />
    </div>
  )
}
