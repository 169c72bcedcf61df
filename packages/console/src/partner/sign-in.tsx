/** The page for somebody who is not signed in, or has opened a link. */
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiFault } from '../api/fault.ts'
import { FaultLines } from '../parts/states.tsx'
import styles from '../session/sign-in.module.css'
import { Brand } from '../shell/brand.tsx'
import { COMMON } from '../texts/common.ts'
import { PARTNER_SIGN_IN as TEXTS } from '../texts/partner.ts'
import { forgetAnswers, queryClient, SESSION_KEY, signIn } from './queries.ts'

interface SignInProps {
  /** The code of the link; null when no link was opened. */
  readonly code: string | null
  /** Called when the code has been used, or was refused with 401. */
  readonly onOver: () => void
}

export function SignIn({ code, onOver }: SignInProps) {
  const [fault, setFault] = useState<Error | null>(null)
  const entering = useMutation({
    mutationFn: signIn,
    meta: { signsIn: true },
    onSuccess: (session) => {
      forgetAnswers()
      queryClient.setQueryData(SESSION_KEY, session)
      onOver()
    },
    // After 401 the code is given up, and an earlier session continues. After other errors the code can be tried again.
    onError: (error) => {
      setFault(error)
      if (error instanceof ApiFault && error.status === 401) onOver()
    },
  })
  useEffect(() => {
    document.title = `${TEXTS.title} · ${COMMON.product}`
  }, [])
  return (
    <main className={styles.main}>
      <div className={styles.card}>
        <Brand />
        <div>
          <h1 className={styles.title}>{TEXTS.title}</h1>
          <p className={styles.lead}>{TEXTS.lead}</p>
        </div>
        {fault !== null && (
          <div className={styles.refused} role="alert">
            <p>{TEXTS.fault}</p>
            <FaultLines error={fault} />
          </div>
        )}
        {code === null ? (
          <div className={styles.form}>
            <p className={styles.lead}>{TEXTS.how}</p>
            <p className={styles.lead}>
              {TEXTS.command} <code>rollcall participant link &lt;sender_id&gt;</code>
            </p>
          </div>
        ) : (
          // A click is needed, because some mail programs open links before people do, and a link works only once.
          <div className={styles.form}>
            <p className={styles.lead}>{TEXTS.link}</p>
            <Button fullWidth autoFocus loading={entering.isPending} onClick={() => entering.mutate(code)}>
              {TEXTS.useLink}
            </Button>
          </div>
        )}
      </div>
    </main>
  )
}
