// Entry of the dashboard.
import { render } from 'preact';
import { Frame } from './frame/frame.tsx';
import { followChanges } from './lib/store.ts';

const root = document.getElementById('app');
if (root !== null) render(<Frame />, root);
void followChanges();
