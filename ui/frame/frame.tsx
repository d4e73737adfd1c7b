// Frame around every page: navigation, state of the cluster, what is staged and active, Undo.
import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { apiKey, forgetKey, needsKey } from '../lib/api.ts';
import { counted } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { pageGroups, pages, titleOf } from '../lib/pages.ts';
import { page } from '../lib/router.ts';
import {
  activeSnapshot,
  cluster,
  connection,
  openRollout,
  role,
  snapshots,
  staged,
  stagedCount,
  whoami,
} from '../lib/store.ts';
import { Pages } from '../pages/pages.tsx';
import { Badge, PageLink } from '../parts/basics.tsx';
import { healthOf } from './health.ts';
import { Keyboard, showShortcuts } from './keyboard.tsx';
import { Messages } from './messages.tsx';
import { SignIn } from './sign-in.tsx';
import { Undo } from './undo.tsx';

export function Frame() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const title = titleOf(page.value);
  useEffect(() => {
    document.title = `${title} · Sluice`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <button
          type="button"
          class="menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="main-navigation"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Menu
        </button>
        <PageLink to="overview" class="brand">
          Sluice
        </PageLink>
        {!needsKey.value && <State />}
      </header>
      <div class="body">
        <nav id="main-navigation" aria-label="Main" class={isMenuOpen ? 'open' : ''}>
          {pageGroups.map((group) => (
            <Fragment key={group}>
              <p class="group" id={`group-${group}`}>
                {group}
              </p>
              <ul aria-labelledby={`group-${group}`}>
                {pages
                  .filter((each) => each.group === group)
                  .map(({ slug, title: name }) => (
                    <li key={slug}>
                      <PageLink
                        to={slug}
                        aria-current={page.value === slug ? 'page' : undefined}
                        onClick={() => setMenuOpen(false)}
                      >
                        {name}
                      </PageLink>
                    </li>
                  ))}
              </ul>
            </Fragment>
          ))}
          <button type="button" class="quiet" onClick={showShortcuts}>
            Keyboard shortcuts
          </button>
        </nav>
        <main id="content" tabIndex={-1}>
          <h1>{title}</h1>
          {connection.value === 'lost' && (
            <p class="problem" role="alert">
              Connection lost
            </p>
          )}
          {needsKey.value ? <SignIn /> : <Pages />}
        </main>
      </div>
      <Messages />
      <Keyboard />
    </>
  );
}

function State() {
  useLive(whoami);
  useLive(staged);
  const health = healthOf(useLive(cluster), cluster.error.value);
  const rollout = openRollout.value;
  return (
    <div class="state">
      <span role="status" aria-label="Cluster health">
        <Badge tone={health.tone}>{health.text}</Badge>
      </span>
      <PageLink to="staged">
        Staged: {staged.value.value === undefined ? '…' : counted(stagedCount.value, 'change')}
      </PageLink>
      <span>Active: {snapshots.value.value === undefined ? '…' : (activeSnapshot.value?.name ?? 'nothing')}</span>
      {rollout !== undefined && (
        <PageLink to="rollout">
          Rollout {rollout.state}, {rollout.share} %
        </PageLink>
      )}
      <span>Role: {role.value ?? '…'}</span>
      {apiKey.value !== undefined && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            forgetKey();
            needsKey.value = true;
          }}
        >
          Sign out
        </button>
      )}
      <Undo />
    </div>
  );
}
