"""The browser viewer: a scene, plots and controls on a web page that this process serves, by viser. No ROS in here."""
