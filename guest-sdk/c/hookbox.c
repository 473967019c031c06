/// The way in and the way out of a hook: the event, the decision and its effects.
#include "hookbox.h"

#include "bindings.h"
#include "internal.h"

enum { UNDECIDED, ALLOW, BLOCK, MODIFY, ASK, FAIL };

// ---- decisions ----

static hb_decision decide(uint8_t ruling, hb_str text) {
    hb_decision made = {ruling, text};
    return made;
}

hb_decision hb_allow(void) { return decide(ALLOW, hb_span("", 0)); }

hb_decision(hb_block)(hb_str reason) { return decide(BLOCK, hb_keep(reason)); }

hb_decision hb_modify(const hb_json *payload) { return decide(MODIFY, hb_write(payload)); }

hb_decision(hb_ask)(hb_str question) { return decide(ASK, hb_keep(question)); }

hb_decision(hb_fail)(hb_str message) { return decide(FAIL, hb_keep(message)); }

hb_decision hb_fail_with(hb_error error) {
    return hb_fail(hb_format("%s: %S", error.kind, error.message));
}

// ---- effects ----

static hbw_list_effect effects;
static size_t effects_room;

static hbw_effect *new_effect(void) {
    if (effects.len == effects_room) {
        size_t room = effects_room ? effects_room * 2 : 4, size = sizeof(hbw_effect);
        effects.ptr =
            hb_extend(effects.ptr, effects_room * size, _Alignof(hbw_effect), room * size);
        effects_room = room;
    }
    return &effects.ptr[effects.len++];
}

void(hb_context)(hb_str text) { hb_context_at(text, HB_SYSTEM_REMINDER); }

void(hb_context_at)(hb_str text, hb_placement placement) {
    *new_effect() = (hbw_effect){
        .tag = HBW_EFFECT_CONTEXT,
        .context = {.text = hb_keep(text), .placement = (uint8_t)placement},
    };
}

void(hb_reminder)(hb_str body) { hb_reminder_with(body, (hb_reminder_options){0}); }

/// The usual value comes first in C, so that it can be left out.
static uint8_t propagation(hb_propagation propagate) {
    switch (propagate) {
        case HB_ALL: return HBW_PROPAGATION_ALL;
        case HB_NOWHERE: return HBW_PROPAGATION_NONE;
        default: return HBW_PROPAGATION_SESSION;
    }
}

void(hb_reminder_with)(hb_str body, hb_reminder_options options) {
    hb_str *tags = hb_alloc(options.tag_count * sizeof *tags);
    for (size_t i = 0; i < options.tag_count; i++) tags[i] = hb_keep(options.tags[i]);
    *new_effect() = (hbw_effect){
        .tag = HBW_EFFECT_REMINDER,
        .reminder =
            {
                .body = hb_keep(body),
                .tags = {tags, options.tag_count},
                .dedupe_key = {options.dedupe_key.ptr != NULL, hb_keep(options.dedupe_key)},
                .ttl_turns = {options.ttl_turns != 0, options.ttl_turns},
                .preserve_on_compact = options.preserve_on_compact,
                .propagate = propagation(options.propagate),
                .role_hint = (uint8_t)options.role_hint,
            },
    };
}

// ---- failures ----

bool hb_failed(hb_error *error, const char *kind, hb_str message) {
    if (error) *error = (hb_error){kind, message};
    return false;
}

// On other machines the tests bring their own.
#ifdef __wasm__
_Noreturn void(hb_panic)(hb_str message) {
    message = hb_utf8(message);
    hbw_fatal_stop(message.ptr, message.len, 0, NULL, 0);
    __builtin_trap();
}

// ---- the call ----

static hb_decision ask_the_hook(hb_event *event) {
    hb_error error;
    if (!hb_parse(event->payload_text, &event->payload, &error))
        return hb_fail(hb_format("the payload is not JSON: %S", error.message));
    hb_decision decision = handle(event);
    if (decision.ruling == UNDECIDED || decision.ruling > FAIL)
        return hb_fail(
            "the hook returned no decision; return hb_allow(), hb_block(), hb_modify() or "
            "hb_ask()");
    return decision;
}

hbw_result_answer_failure *hbw_handler_handle(const char *event_name, size_t event_name_len,
                                              const char *event_payload, size_t event_payload_len,
                                              const char *event_id, size_t event_id_len,
                                              int32_t event_subject_tag, const char *event_subject,
                                              size_t event_subject_len, const char *event_hook,
                                              size_t event_hook_len, uint32_t event_depth) {
    static hbw_result_answer_failure answer;
    hb_event event = {
        .name = hb_span(event_name, event_name_len),
        .payload_text = hb_span(event_payload, event_payload_len),
        .id = hb_span(event_id, event_id_len),
        .hook = hb_span(event_hook, event_hook_len),
        .depth = event_depth,
    };
    // A text of no bytes is one, too, and may come without a place.
    if (event_subject_tag)
        event.subject = hb_span(event_subject_len ? event_subject : "", event_subject_len);

    hb_decision decision = ask_the_hook(&event);
    if (decision.ruling == FAIL) {
        answer.tag = 1;
        answer.err.message = decision.text;
    } else {
        answer.ok.decision.tag = (uint8_t)(decision.ruling - ALLOW + HBW_DECISION_ALLOW);
        answer.ok.decision.block = decision.text;
        answer.ok.effects = effects;
    }
    return &answer;
}
#endif
