import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { brand } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { EnquiryPage } from './enquiry-page.tsx'
import { ListPage } from './list-page.tsx'
import { clearOtherTabs } from './session.ts'

/** @param reference of the enquiry that the address names; '' for the list */
export function DeskPage({ reference }: { reference: string }) {
  const isOnline = useSyncExternalStore(onlineManager.subscribe, () => onlineManager.isOnline())
  return (
    <>
      <a href="#main" className="visually-hidden">
        Skip to content
      </a>
      <header className="desk-head">
        <p className="desk-name">
          <a href={DESK_PATH}>{brand.name} desk</a>
        </p>
        <SignOut>
          <button type="submit">Sign out</button>
        </SignOut>
      </header>
      <main id="main" tabIndex={-1}>
        <p role="status">
          {!isOnline && (
            <span className="notice">You are offline. What you typed stays here, and changes are sent later.</span>
          )}
        </p>
        {reference ? <EnquiryPage reference={reference} /> : <ListPage />}
      </main>
      <footer className="desk-foot">
        <SignOut>
          <button type="submit" name="everywhere" value="yes">
            Sign out on all devices
          </button>
        </SignOut>
      </footer>
    </>
  )
}

function SignOut({ children }: { children: React.ReactNode }) {
  return (
    <form method="post" action={`${DESK_PATH}/sign-out`} onSubmit={clearOtherTabs}>
      {children}
    </form>
  )
}
