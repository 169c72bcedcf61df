/** The frame around each view: the product's name, who is signed in, and the links to the views. */
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ComponentType, useEffect } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { Boundary } from '../parts/boundary.tsx'
import viewStyles from '../parts/views.module.css'
import { Brand } from '../shell/brand.tsx'
import shellStyles from '../shell/shell.module.css'
import { PARTNER } from '../texts/partner.ts'
import { DeliveriesView } from './deliveries.tsx'
import { DeliveryView } from './delivery.tsx'
import styles from './frame.module.css'
import { GrantsView } from './grants.tsx'
import { KeysView } from './keys.tsx'
import { forgetAnswers, type Session, signOut } from './queries.ts'
import { StartView } from './start.tsx'
import { SubscriptionsView } from './subscriptions.tsx'

interface ViewRow {
  readonly path: string
  /** The title in the links; null for a view to which only another view links. */
  readonly title: string | null
  readonly view: ComponentType
}

/** THE table of the views of the partner page: a row for each. */
const VIEWS: readonly ViewRow[] = [
  { path: '/', title: PARTNER.view.start, view: StartView },
  { path: '/deliveries', title: PARTNER.view.deliveries, view: DeliveriesView },
  { path: '/deliveries/:message_id', title: null, view: DeliveryView },
  { path: '/subscriptions', title: PARTNER.view.subscriptions, view: SubscriptionsView },
  { path: '/keys', title: PARTNER.view.keys, view: KeysView },
  { path: '/grants', title: PARTNER.view.grants, view: GrantsView },
]

const MAIN_ID = 'main'

export function PartnerFrame({ session: { sender_id, demo } }: { readonly session: Session }) {
  const [path] = useLocation()
  const leaving = useMutation({ mutationFn: signOut, onSuccess: forgetAnswers })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a view begins at its top
  useEffect(() => scrollTo(0, 0), [path])
  return (
    <>
      <button type="button" className={shellStyles.skip} onClick={() => document.getElementById(MAIN_ID)?.focus()}>
        {PARTNER.skip}
      </button>
      <header className={styles.head}>
        <Brand demo={demo} />
        <span className={styles.who}>{sender_id}</span>
        <Button variant="default" size="compact-sm" loading={leaving.isPending} onClick={() => leaving.mutate()}>
          {PARTNER.signOut}
        </Button>
      </header>
      <div className={styles.body}>
        <nav className={viewStyles.views} aria-label={PARTNER.views}>
          {VIEWS.map(
            ({ path: to, title }) =>
              title !== null && (
                <a key={to} className={viewStyles.view} href={`#${to}`} aria-current={ariaCurrentOf(path, to)}>
                  {title}
                </a>
              ),
          )}
        </nav>
        <main id={MAIN_ID} tabIndex={-1} className={styles.main}>
          <Boundary key={path}>
            <Switch>
              {VIEWS.map(({ path: at, view: View }) => (
                <Route key={at} path={at}>
                  <View />
                </Route>
              ))}
              <Route>
                <Redirect to="/" replace />
              </Route>
            </Switch>
          </Boundary>
        </main>
      </div>
    </>
  )
}

/**
 * Returns a link's `aria-current`: `page` when its own page is shown, `true` when a page with an address below its own is shown.
 */
function ariaCurrentOf(path: string, to: string): 'page' | 'true' | undefined {
  if (path === to) return 'page'
  return to !== '/' && path.startsWith(`${to}/`) ? 'true' : undefined
}
