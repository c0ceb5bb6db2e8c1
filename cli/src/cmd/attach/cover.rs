//! Which picture the tty shows: the live one, or another one of termctl's over it. Output stands still
//! meanwhile, and nothing of it is lost.

use tokio::sync::watch;

/// What draws on the tty. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Cover(watch::Sender<CoverState>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoverState {
    /// The viewer draws.
    Live,
    /// The viewer is to leave the tty to another picture.
    Requested,
    /// It has.
    Given,
}

impl Cover {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(CoverState::Live))
    }

    /// Asks for the tty.
    pub(super) fn request(&self) {
        self.0.send_replace(CoverState::Requested);
    }

    /// Gives it back.
    pub(super) fn remove(&self) {
        self.0.send_replace(CoverState::Live);
    }

    /// Leaves the tty to the other picture, unless that is no longer wanted.
    pub(super) fn give(&self) {
        self.0.send_if_modified(|state| {
            let is_requested = *state == CoverState::Requested;
            if is_requested {
                *state = CoverState::Given;
            }
            is_requested
        });
    }

    pub(super) fn is_requested(&self) -> bool {
        *self.0.borrow() == CoverState::Requested
    }

    /// Waits until the tty is asked for.
    pub(super) async fn requested(&self) {
        self.reached(CoverState::Requested).await;
    }

    /// Waits until the tty is free for the other picture.
    pub(super) async fn given(&self) {
        self.reached(CoverState::Given).await;
    }

    /// Waits until the tty is the viewer's again.
    pub(super) async fn removed(&self) {
        self.reached(CoverState::Live).await;
    }

    async fn reached(&self, wanted: CoverState) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|state| *state == wanted).await;
    }
}
