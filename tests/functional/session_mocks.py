"""D-Bus services that do what they are told on standard input, a word a line: GNOME's idle monitor and session, a screen
saver; and on the system's bus, if there is one, logind's inhibitors and sleep, NetworkManager, UPower and power profiles. Run by
Debian's Python."""
import os
import select
import subprocess
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

IDLE = "org.gnome.Mutter.IdleMonitor"
SESSION = "org.gnome.SessionManager"
SAVER = "org.freedesktop.ScreenSaver"
LOGIN = "org.freedesktop.login1.Manager"
NETWORK = "org.freedesktop.NetworkManager"
POWER = "org.freedesktop.UPower"
PROFILES = ("org.freedesktop.UPower.PowerProfiles", "net.hadess.PowerProfiles")
NOTIFICATIONS = "org.freedesktop.Notifications"


class IdleMonitor(dbus.service.Object):
    count, idle, active = 0, None, None

    @dbus.service.method(IDLE, in_signature="t", out_signature="u")
    def AddIdleWatch(self, interval):
        self.count += 1
        self.idle = self.count
        return self.count

    @dbus.service.method(IDLE, out_signature="u")
    def AddUserActiveWatch(self):
        self.count += 1
        self.active = self.count
        if self.pending:
            GLib.idle_add(self.fire_active)
        return self.count

    @dbus.service.method(IDLE, out_signature="t")
    def GetIdletime(self):
        return 0

    pending = False

    def fire_active(self):
        if self.active is None:  # asked for soon
            self.pending = True
            return
        watch, self.active, self.pending = self.active, None, False
        self.WatchFired(watch)

    @dbus.service.signal(IDLE, signature="u")
    def WatchFired(self, watch):
        pass


class Session(dbus.service.Object):
    inhibited = False

    @dbus.service.method(SESSION, in_signature="u", out_signature="b")
    def IsInhibited(self, flags):
        return self.inhibited and flags == 8

    @dbus.service.signal(SESSION, signature="o")
    def InhibitorAdded(self, path):
        pass

    @dbus.service.signal(SESSION, signature="o")
    def InhibitorRemoved(self, path):
        pass


class Saver(dbus.service.Object):
    on = False

    @dbus.service.method(SAVER, out_signature="b")
    def GetActive(self):
        return self.on

    @dbus.service.signal(SAVER, signature="b")
    def ActiveChanged(self, on):
        pass

    def set(self, on):
        self.on = on
        self.ActiveChanged(on)


class Notifications(dbus.service.Object):
    shown = []

    @dbus.service.method(NOTIFICATIONS, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, program, replaces, icon, summary, body, actions, hints, timeout):
        assert program == "Gleaner"
        self.shown = [*self.shown, (str(summary), str(body))]
        return len(self.shown)


class Login(dbus.service.Object):
    inhibitors = []
    delays = []  # ends of pipes that are read to their end when who delays sleep lets go

    @dbus.service.method(LOGIN, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        assert (what, mode) == ("sleep", "delay"), (what, mode)
        ours, theirs = os.pipe()
        self.delays = [*self.delays, ours]
        given = dbus.types.UnixFd(theirs)
        os.close(theirs)
        return given

    @dbus.service.signal(LOGIN, signature="b")
    def PrepareForSleep(self, sleeps):
        pass

    def delayed(self):
        """How many delay sleep now; those who let go are forgotten."""
        for ours in list(self.delays):
            if select.select([ours], [], [], 0)[0]:
                os.close(ours)
                self.delays.remove(ours)
        return len(self.delays)

    @dbus.service.method(LOGIN, out_signature="a(ssssuu)")
    def ListInhibitors(self):
        return dbus.Array([("sleep", "upower", "battery", "delay", dbus.UInt32(0), dbus.UInt32(1)), *self.inhibitors],
                          signature="(ssssuu)")


class Network(dbus.service.Object):
    metered = 4

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        assert (interface, name) == (NETWORK, "Metered")
        return dbus.UInt32(self.metered)


class Power(dbus.service.Object):
    @dbus.service.method(POWER, out_signature="ao")
    def EnumerateDevices(self):
        return dbus.Array([f"/org/freedesktop/UPower/devices/{name}" for name in ("mouse_hid", "ups_hiddev0")], signature="o")


class Ups(dbus.service.Object):
    state = 4  # fully charged

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        assert interface == POWER + ".Device"
        return {"NativePath": "/sys/devices/usb/hiddev0", "Type": dbus.UInt32(3), "State": dbus.UInt32(self.state),
                "Percentage": dbus.Double(80), "IsPresent": True, "Model": "Back-UPS"}


class Profiles(dbus.service.Object):
    profile = "balanced"

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        assert interface in PROFILES and name == "ActiveProfile"
        return self.profile


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    loop = GLib.MainLoop()
    names, keep, commands = [], {}, {}
    if os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        bus = dbus.SessionBus()
        names += [dbus.service.BusName(name, bus) for name in (IDLE, SESSION, SAVER)]
        monitor = IdleMonitor(bus, "/org/gnome/Mutter/IdleMonitor/Core")
        session = Session(bus, "/org/gnome/SessionManager")
        saver = Saver(bus, "/org/freedesktop/ScreenSaver")
        notifications = Notifications(bus, "/org/freedesktop/Notifications")

        def shown_once():
            assert len(notifications.shown) == 1, notifications.shown
            assert "no longer accepts this computer" in notifications.shown[0][1], notifications.shown

        def shown_none():
            assert notifications.shown == [], notifications.shown

        def inhibit(yes):
            session.inhibited = yes
            (session.InhibitorAdded if yes else session.InhibitorRemoved)("/org/gnome/SessionManager/Inhibitor1")

        commands |= {"idle": lambda: monitor.WatchFired(monitor.idle), "active": monitor.fire_active,
                     "lock": lambda: saver.set(True), "unlock": lambda: saver.set(False),
                     "inhibit": lambda: inhibit(True), "release": lambda: inhibit(False),
                     "show": lambda: names.append(dbus.service.BusName(NOTIFICATIONS, bus)),
                     "shown-once": shown_once, "shown-none": shown_none,
                     "leave": lambda: bus.release_name(IDLE)}
    if os.environ.get("DBUS_SYSTEM_BUS_ADDRESS"):
        system = dbus.SystemBus()
        names += [dbus.service.BusName(name, system) for name in ("org.freedesktop.login1", NETWORK)]
        login = Login(system, "/org/freedesktop/login1")
        network = Network(system, "/org/freedesktop/NetworkManager")

        def keep_awake(yes):
            login.inhibitors = [("idle:sleep", "impress", "a talk", "block", dbus.UInt32(0), dbus.UInt32(1))] if yes else []

        def keep_awake_dead():
            process = subprocess.Popen(["true"])
            process.wait()
            login.inhibitors = [("idle", "impress", "a talk", "block", dbus.UInt32(0), dbus.UInt32(process.pid))]

        def sleep_delayed():
            assert login.delayed() == 1, login.delays

        def sleep_let_go():
            assert login.delayed() == 0, login.delays

        power = Power(system, "/org/freedesktop/UPower")
        ups = Ups(system, "/org/freedesktop/UPower/devices/ups_hiddev0")
        profiles = {name: Profiles(system, "/" + name.replace(".", "/")) for name in PROFILES}
        keep["power"] = power

        def own(name):
            keep[name] = dbus.service.BusName(name, system)

        # Which of the names of power-profiles-daemon there is.
        def saves(name, yes):
            profiles[name].profile = "power-saver" if yes else "balanced"
            own(name)

        commands |= {"upower": lambda: own(POWER), "ups-used": lambda: setattr(ups, "state", 2),
                     "saver-older": lambda: saves(PROFILES[1], True), "balanced-older": lambda: saves(PROFILES[1], False),
                     "older-goes": lambda: system.release_name(PROFILES[1]),
                     "saver": lambda: saves(PROFILES[0], True)}
        commands |= {"sleep": lambda: login.PrepareForSleep(True), "wake": lambda: login.PrepareForSleep(False),
                     "is-delayed": sleep_delayed, "is-let-go": sleep_let_go}
        commands |= {"keep-awake-dead": keep_awake_dead, "keep-awake": lambda: keep_awake(True), "let-sleep": lambda: keep_awake(False),
                     "metered": lambda: setattr(network, "metered", 1), "free": lambda: setattr(network, "metered", 4)}

    def obey(source, condition):
        word = sys.stdin.readline().strip()
        if not word:
            loop.quit()
            return False
        try:
            commands[word]()
            print("done", flush=True)
        except AssertionError as error:
            print(f"no {error}", flush=True)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, obey)
    print("ready", flush=True)
    loop.run()


main()
