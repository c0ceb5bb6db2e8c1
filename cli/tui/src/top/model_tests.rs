//! What the overview does of what happens.

use termd_proto::Offset;
use termd_proto::approval::Decision;
use termd_proto::event::TerminalEvent;

use super::effect::{Call, Effect, Followed, Leave};
use super::mode::Mode;
use super::news::News;
use super::tests::{Stage, info, question};
use crate::input::{Input, Key, Mouse, MouseAction};

const SIZE: (u16, u16) = (80, 24);

fn two() -> Stage {
    Stage::new(
        SIZE,
        vec![info("a", "failed", "/x"), info("b", "running", "/x")],
    )
}

fn at_hand(stage: &Stage) -> String {
    stage.model.list.row_at_hand().unwrap().label_or_id()
}

fn calls(effects: Vec<Effect>) -> Vec<Call> {
    let calls = effects.into_iter().filter_map(|effect| match effect {
        Effect::Call(call) => Some(call),
        Effect::Leave(_) | Effect::Follow(_) => None,
    });
    calls.collect()
}

#[test]
fn the_one_at_hand_is_followed_and_no_other() {
    let mut stage = two();
    let (a, b) = (info("a", "failed", "/x"), info("b", "running", "/x"));
    assert_eq!(at_hand(&stage), "a");
    let follows = |id, rows, scrolled| Effect::Follow(Some(Followed { id, rows, scrolled }));
    let followed = |stage: &mut Stage| {
        let effects = stage.wait(200).into_iter();
        let follows = effects.filter(|effect| matches!(effect, Effect::Follow(_)));
        follows.collect::<Vec<_>>()
    };
    assert_eq!(followed(&mut stage), [follows(a.id.clone(), 20, 0)]);
    assert_eq!(stage.press(Key::Down), [Effect::Follow(None)]);
    assert_eq!(followed(&mut stage), [follows(b.id, 20, 0)]);
    assert_eq!(stage.press(Key::Down), [], "it is the last");
    // Who only passes by has not looked.
    stage.press(Key::Up);
    assert_eq!(stage.press(Key::Down), []);
    stage.press(Key::Home);
    assert_eq!(followed(&mut stage), [follows(a.id, 20, 0)]);
    assert_eq!(followed(&mut stage), []);
}

#[test]
fn what_is_seen_stays_at_hand_and_leaves_when_another_is() {
    let mut stage = two();
    let seen = info("a", "idle-exited", "/x");
    stage.hear(News::Event(TerminalEvent::Attention {
        id: seen.id.clone(),
        attention: seen.attention.clone().unwrap(),
    }));
    stage.hear(News::Shown(Box::new(seen)));
    assert_eq!(
        (at_hand(&stage).as_str(), stage.model.list.items.len()),
        ("a", 2)
    );
    stage.press(Key::Down);
    assert_eq!(
        (at_hand(&stage).as_str(), stage.model.list.items.len()),
        ("b", 1)
    );
    stage.press(Key::Tab);
    assert_eq!(stage.model.list.items.len(), 2);
}

#[test]
fn a_closed_one_leaves_its_place_to_the_next() {
    let mut stage = two();
    let id = info("a", "failed", "/x").id;
    stage.hear(News::Event(TerminalEvent::Closed { id }));
    assert_eq!(at_hand(&stage), "b");
}

#[test]
fn glances_come_after_output_and_not_more_often_than_twice_a_second() {
    let mut stage = two();
    let b = info("b", "running", "/x").id;
    // The first look at all.
    assert_eq!(calls(stage.wait(200)).len(), 1);
    stage.hear(News::Glances(Vec::new()));
    let printed = || {
        News::Event(TerminalEvent::Output {
            id: b.clone(),
            end: Offset(1),
        })
    };
    let mut glances = 0;
    for _ in 0..100 {
        let heard = calls(stage.hear(printed())).len() + calls(stage.wait(10)).len();
        glances += heard;
        if heard > 0 {
            stage.hear(News::Glances(Vec::new()));
        }
    }
    assert!((1..=3).contains(&glances), "{glances}");
    stage.wait(2_000);
    stage.hear(News::Glances(Vec::new()));
    assert_eq!(calls(stage.wait(30_000)), [], "nothing changes");
}

#[test]
fn answers_need_a_question_that_was_there_to_be_read() {
    let mut stage = two();
    let a = info("a", "failed", "/x");
    assert_eq!(calls(stage.press(Key::Char('y'))), []);
    for (key, decision) in [
        ('y', Decision::Approve),
        ('a', Decision::Always),
        ('n', Decision::Deny),
    ] {
        stage.ask(&[question("aaaaaa", &a, "rm -rf x")]);
        assert_eq!(calls(stage.press(Key::Char(key))), [], "too fast");
        stage.wait(1_000);
        let answered = calls(stage.press(Key::Char(key)));
        let want = Call::Answer("aaaaaa".parse().unwrap(), decision);
        assert_eq!(answered, [want]);
        stage.ask(&[]);
    }
    // Another one in its place is not answered by the key for this one.
    stage.ask(&[question("aaaaaa", &a, "rm -rf x")]);
    stage.wait(1_000);
    stage.ask(&[question("bbbbbb", &a, "rm -rf /")]);
    assert_eq!(calls(stage.press(Key::Char('y'))), []);
    stage.ask(&[]);
    stage.press(Key::Char('n'));
    assert!(
        matches!(stage.model.mode, Mode::Prompt(_)),
        "n starts a new one"
    );
}

#[test]
fn what_ends_something_is_asked_about() {
    let mut stage = two();
    stage.press(Key::Down);
    let b = info("b", "running", "/x").id;
    for (key, call) in [('k', Call::Kill(b.clone())), ('x', Call::Close(b.clone()))] {
        assert_eq!(calls(stage.press(Key::Char(key))), []);
        assert_eq!(calls(stage.press(Key::Enter)), [], "only y");
        stage.press(Key::Char(key));
        assert_eq!(calls(stage.press(Key::Char('y'))), [call]);
    }
    stage.press(Key::Up);
    let a = info("a", "failed", "/x").id;
    assert_eq!(
        calls(stage.press(Key::Char('x'))),
        [Call::Close(a)],
        "it has ended"
    );
}

#[test]
fn lines_are_typed_and_a_paste_presses_no_key() {
    let mut stage = two();
    stage.press(Key::Down);
    let b = info("b", "running", "/x").id;
    assert_eq!(stage.input(Input::Paste("yq".to_owned())), []);
    stage.press(Key::Char('i'));
    stage.type_text("yq");
    stage.input(Input::Paste(" more\nrm -rf /".to_owned()));
    let typed = calls(stage.press(Key::Enter));
    assert_eq!(typed, [Call::TypeLine(b, "yq more".to_owned())]);
}

#[test]
fn the_filter_is_kept_by_enter_and_taken_away_by_escape() {
    let mut stage = two();
    stage.press(Key::Char('/'));
    stage.type_text("zzz");
    assert_eq!(stage.model.list.items.len(), 0);
    stage.press(Key::Backspace);
    stage.press(Key::Ctrl('u'));
    stage.type_text("failed");
    assert_eq!(stage.model.list.items.len(), 1);
    stage.press(Key::Enter);
    assert_eq!(
        (
            stage.model.list.items.len(),
            stage.model.list.filter.as_str()
        ),
        (1, "failed")
    );
    stage.press(Key::Escape);
    assert_eq!(stage.model.list.items.len(), 2);
}

#[test]
fn without_a_daemon_nothing_is_called_and_it_is_said() {
    let mut stage = two();
    stage.hear(News::Away("gone".to_owned()));
    for key in "ikxrcnsy".chars() {
        assert_eq!(stage.press(Key::Char(key)), [], "{key}");
        stage.wait(1_000);
    }
    assert_eq!(stage.press(Key::Char('q')), [Effect::Leave(Leave::Quit)]);
}

#[test]
fn a_line_that_is_typed_behind_a_refused_key_presses_no_keys() {
    let mut stage = Stage::new(SIZE, vec![info("a", "failed", "/x")]);
    let refused = stage.press(Key::Char('i'));
    assert_eq!(calls(refused), []);
    let typed = stage.type_text("exit now");
    assert_eq!(calls(typed), []);
    stage.press(Key::Enter);
    assert_eq!(
        calls(stage.press(Key::Char('x'))).len(),
        1,
        "the line is over"
    );
    // Without Enter it is over after a pause.
    let mut stage = Stage::new(SIZE, vec![info("a", "failed", "/x")]);
    stage.press(Key::Char('i'));
    stage.wait(1_000);
    assert_eq!(calls(stage.press(Key::Char('x'))).len(), 1);
}

#[test]
fn a_line_that_is_said_long_after_the_last_input_is_shown() {
    let mut stage = two();
    stage.say_after(600_000, "over");
    stage.wait(1);
    assert_eq!(stage.model.message(), Some("over"));
    stage.wait(5_000);
    assert_eq!(stage.model.message(), None);
}

#[test]
fn an_event_counts_whichever_answer_comes_before_or_after_it() {
    let mut stage = two();
    let (before, after) = (info("c", "running", "/x"), info("c", "done", "/x"));
    let id = before.id.clone();
    stage.hear(News::Event(TerminalEvent::Created { id: id.clone() }));
    let attention = after.attention.clone().unwrap();
    let event = TerminalEvent::Attention {
        id: id.clone(),
        attention,
    };
    stage.hear(News::Event(event));
    for answer in [before.clone(), after.clone(), before] {
        stage.hear(News::Shown(Box::new(answer)));
        let row = &stage.model.list.rows[&id];
        assert_eq!(row.info.attention, after.attention);
    }
    assert_eq!(stage.model.list.rows[&id].info.state, after.state);
}

#[test]
fn a_silent_daemon_is_here_again_when_it_answers() {
    let mut stage = two();
    stage.hear(News::Silent);
    assert_eq!(stage.press(Key::Char('c')), []);
    assert_eq!(stage.model.message(), Some("the daemon does not answer"));
    stage.hear(News::Answered);
    assert_eq!(calls(stage.press(Key::Char('c'))).len(), 1);
    // One that is gone is looked for.
    stage.hear(News::Away("gone".to_owned()));
    stage.hear(News::Answered);
    assert_eq!(stage.press(Key::Char('c')), []);
}

#[test]
fn the_mouse_selects_and_scrolls() {
    let mut stage = two();
    let mouse = |action, column, row| {
        Input::Mouse(Mouse {
            action,
            column,
            row,
        })
    };
    stage.input(mouse(MouseAction::Press, 3, 3));
    assert_eq!(at_hand(&stage), "b");
    stage.input(mouse(MouseAction::Press, 3, 2));
    assert_eq!(at_hand(&stage), "a", "its second row");
    stage.input(mouse(MouseAction::Press, 60, 3));
    stage.input(mouse(MouseAction::WheelUp, 3, 3));
    assert_eq!(at_hand(&stage), "a");
}

#[test]
fn an_answer_does_not_take_back_what_an_event_has_said_since() {
    let mut stage = two();
    let failed = info("b", "failed", "/x");
    stage.hear(News::Event(TerminalEvent::Attention {
        id: failed.id.clone(),
        attention: failed.attention.clone().unwrap(),
    }));
    let asked_before = info("b", "running-exited", "/x");
    stage.hear(News::Shown(Box::new(asked_before)));
    let row = &stage.model.list.rows[&failed.id];
    assert_eq!(row.state().as_str(), "failed");
    // Of one that is not known yet it is asked.
    let new = info("new", "failed", "/x");
    let heard = stage.hear(News::Event(TerminalEvent::Attention {
        id: new.id.clone(),
        attention: new.attention.unwrap(),
    }));
    assert!(calls(heard).contains(&Call::Show(new.id)));
}
