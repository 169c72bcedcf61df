/**
 * The page for whoever is not signed in. The address stays, so the page at this address is shown after sign-in. Only the address
 * of a sign-in link is removed.
 */
import { Button, PasswordInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { ApiFault } from '../api/fault.ts'
import { forgetAnswers } from '../api/queries.ts'
import { SESSION_QUERY_KEY, type SignInMethod, signIn } from '../api/session.ts'
import { FaultLines } from '../parts/states.tsx'
import { Brand } from '../shell/brand.tsx'
import { COMMON } from '../texts/common.ts'
import { SIGN_IN } from '../texts/sign-in.ts'
import styles from './sign-in.module.css'

/** Matches the path of a sign-in link. The path has the code, and is after the `#`, which browsers do not send. */
const SIGN_IN_PATH_PATTERN = /^\/sign-in\/([^/]+)$/

/** True when a path, behind the `#`, is that of a sign-in link. */
export const isSignInLink = (path: string): boolean => SIGN_IN_PATH_PATTERN.test(path)

export function SignInPage({ offers }: { readonly offers: readonly SignInMethod[] }) {
  const [path, navigate] = useLocation()
  const code = SIGN_IN_PATH_PATTERN.exec(path)?.[1]
  const queries = useQueryClient()
  const entering = useMutation({
    mutationFn: signIn,
    onSuccess: async () => {
      if (code !== undefined) navigate('/', { replace: true })
      forgetAnswers()
      await queries.invalidateQueries({ queryKey: SESSION_QUERY_KEY })
    },
    // After any failure the code is given up, because the attempt may have used it.
    onError: () => code !== undefined && navigate('/', { replace: true }),
  })
  useEffect(() => {
    document.title = `${SIGN_IN.title} · ${COMMON.product}`
  }, [])
  return (
    <main className={styles.main}>
      <div className={styles.card}>
        <Brand />
        <div>
          <h1 className={styles.title}>{SIGN_IN.title}</h1>
          <p className={styles.lead}>{path === '/' || code !== undefined ? SIGN_IN.lead : SIGN_IN.back}</p>
        </div>
        {entering.error !== null && <SignInFault error={entering.error} byLink={'code' in (entering.variables ?? {})} />}
        {code === undefined ? (
          <TokenForm busy={entering.isPending} onToken={(token) => entering.mutate({ token })} />
        ) : (
          <LinkForm busy={entering.isPending} onUse={() => entering.mutate({ code })} />
        )}
        <OtherSignInButtons offers={offers} />
      </div>
    </main>
  )
}

function TokenForm({ busy, onToken }: { readonly busy: boolean; readonly onToken: (token: string) => void }) {
  const [token, setToken] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onToken(token.trim())
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <PasswordInput
        label={SIGN_IN.token}
        description={SIGN_IN.tokenAdvice}
        autoComplete="current-password"
        autoFocus
        required
        withAsterisk={false}
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
      />
      <Button type="submit" fullWidth loading={busy} disabled={token.trim() === ''}>
        {SIGN_IN.submit}
      </Button>
    </form>
  )
}

/** A click is needed, because some mail programs open links before people do, and a link works only once. */
function LinkForm({ busy, onUse }: { readonly busy: boolean; readonly onUse: () => void }) {
  return (
    <div className={styles.form}>
      <p className={styles.lead}>{SIGN_IN.link}</p>
      <Button fullWidth autoFocus loading={busy} onClick={onUse}>
        {SIGN_IN.useLink}
      </Button>
    </div>
  )
}

function SignInFault({ error, byLink }: { readonly error: Error; readonly byLink: boolean }): ReactNode {
  const isSpent = byLink && error instanceof ApiFault && !error.isPassing
  return (
    <div className={styles.refused} role="alert">
      {isSpent ? <p>{SIGN_IN.linkSpent}</p> : <FaultLines error={error} />}
      {byLink && <p>{SIGN_IN.linkAdvice}</p>}
    </div>
  )
}

function OtherSignInButtons({ offers }: { readonly offers: readonly SignInMethod[] }): ReactNode {
  const others = offers.flatMap(({ title, start }) => (start === null ? [] : [{ title, start }]))
  if (others.length === 0) return null
  return (
    <div className={styles.form}>
      <p className={styles.or}>{SIGN_IN.or}</p>
      {others.map(({ title, start }) => (
        <Button key={start} component="a" href={start} variant="default" fullWidth>
          {title}
        </Button>
      ))}
    </div>
  )
}
